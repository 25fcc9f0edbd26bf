// A library whose photos have places.

import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { png } from './photos.mjs';

/** Degrees as XMP writes them: `38,43.3380N`. */
const degrees = (value, [positive, negative]) => {
  const whole = Math.floor(Math.abs(value));
  return `${whole},${((Math.abs(value) - whole) * 60).toFixed(4)}${value < 0 ? negative : positive}`;
};

const sidecar = ([latitude, longitude], minute) => `<x:xmpmeta xmlns:x="adobe:ns:meta/">
<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">
<rdf:Description rdf:about="" xmlns:exif="http://ns.adobe.com/exif/1.0/"
  exif:DateTimeOriginal="2024-07-14T${String(Math.floor(minute / 60) % 24).padStart(2, '0')}:${String(minute % 60).padStart(2, '0')}:00Z"
  exif:GPSLatitude="${degrees(latitude, 'NS')}" exif:GPSLongitude="${degrees(longitude, 'EW')}"/>
</rdf:RDF></x:xmpmeta>`;

/** Imports a photo for each of these places, a latitude and a longitude. The first is the oldest. */
export async function importPlaces(service, person, places) {
  const folder = await mkdtemp(join(tmpdir(), 'photo-places-'));
  try {
    for (const [index, place] of places.entries()) {
      await writeFile(join(folder, `p${index}.png`), png(index, 60, 45));
      await writeFile(join(folder, `p${index}.png.xmp`), sidecar(place, index));
    }
    await service.run(['import', person.email, folder]);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
