// Makes the server's renditions with sharp: upright, sRGB, without metadata, WebP of quality 80 at the default effort.
// The argument is a JSON file: files, sides (the longest side of each rendition, largest first), concurrency, output.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import sharp from 'sharp';

const job = JSON.parse(readFileSync(process.argv[2], 'utf8'));
// Concurrent photos use the processors better than threads within each photo.
sharp.concurrency(1);

const SMALL = 1200;
const WEBP = { quality: 80 };
const fit = (side) => ({ width: side, height: side, fit: 'inside', withoutEnlargement: true });

async function renditions(file, number) {
  const path = (side) => join(job.output, `${number}-${side}.webp`);
  let bytes = 0;
  const source = readFileSync(file);
  for (const side of job.sides.filter((side) => side > SMALL)) {
    const made = await sharp(source).autoOrient().resize(fit(side)).webp(WEBP).toFile(path(side));
    bytes += made.size;
  }
  // libvips decodes a JPEG at a fraction of its size for small targets. One decode serves both renditions.
  const small = job.sides.filter((side) => side <= SMALL);
  const { data, info } = await sharp(source)
    .autoOrient()
    .resize(fit(Math.max(...small)))
    .toColourspace('srgb')
    .raw()
    .toBuffer({ resolveWithObject: true });
  const raw = { width: info.width, height: info.height, channels: info.channels };
  for (const side of small) {
    const made = await sharp(data, { raw }).resize(fit(side)).webp(WEBP).toFile(path(side));
    bytes += made.size;
  }
  return bytes;
}

const report = { photos: 0, failed: 0, bytes: 0 };
let next = 0;
async function worker() {
  while (next < job.files.length) {
    const number = next++;
    try {
      // The sum is read after the `await`, because another worker may change it during the `await`.
      const bytes = await renditions(job.files[number], number);
      report.bytes += bytes;
      report.photos += 1;
    } catch (error) {
      console.error(`${job.files[number]}: ${error.message}`);
      report.failed += 1;
    }
  }
}
await Promise.all(Array.from({ length: job.concurrency }, worker));
console.log(JSON.stringify(report));
