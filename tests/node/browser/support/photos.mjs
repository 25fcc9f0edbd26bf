// Files to upload.

import { crc32, deflateSync } from 'node:zlib';

/** A PNG file whose pixels differ from those of every other number. */
export function png(number, width, height) {
  const chunk = (type, data) => {
    const body = Buffer.concat([Buffer.from(type), data]);
    const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
    length.writeUInt32BE(data.length);
    sum.writeUInt32BE(crc32(body));
    return Buffer.concat([length, body, sum]);
  };
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  // Eight bits for each of three channels.
  header.set([8, 2], 8);
  const pixels = Buffer.alloc(height * (1 + width * 3));
  let state = number + 1;
  for (let place = 0; place < pixels.length; place += 1) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    // Each row begins with the type of its filter: 0 for none.
    pixels[place] = place % (1 + width * 3) === 0 ? 0 : state >>> 24;
  }
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  const parts = [chunk('IHDR', header), chunk('IDAT', deflateSync(pixels, { level: 0 })), chunk('IEND', Buffer.alloc(0))];
  return Buffer.concat([signature, ...parts]);
}

/** This many photos. Every tenth is too long for the first request of its upload. */
export const photos = (count) =>
  Array.from({ length: count }, (_, number) => ({
    name: `photo-${number}.png`,
    mimeType: 'image/png',
    buffer: number % 10 === 9 ? png(number, 700, 600) : png(number, 40, 30),
  }));

/** The start of a movie. */
export const movie = (name) => ({
  name,
  mimeType: 'video/mp4',
  buffer: Buffer.concat([Buffer.from('\0\0\0\x18ftypmp42\0\0\0\0mp42isom', 'latin1'), Buffer.alloc(20_000)]),
});
