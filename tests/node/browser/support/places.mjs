// Libraries whose photos have chosen times and places.

import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { png } from './photos.mjs';

/** Degrees as XMP writes them: `38,43.3380N`. */
const degrees = (value, [positive, negative]) => {
  const whole = Math.floor(Math.abs(value));
  return `${whole},${((Math.abs(value) - whole) * 60).toFixed(4)}${value < 0 ? negative : positive}`;
};

const position = ([latitude, longitude]) =>
  `exif:GPSLatitude="${degrees(latitude, 'NS')}" exif:GPSLongitude="${degrees(longitude, 'EW')}"`;

const sidecar = ({ at, place }) => `<x:xmpmeta xmlns:x="adobe:ns:meta/">
<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">
<rdf:Description rdf:about="" xmlns:exif="http://ns.adobe.com/exif/1.0/"
  exif:DateTimeOriginal="${at}" ${place ? position(place) : ''}/>
</rdf:RDF></x:xmpmeta>`;

/** A time on 14 July 2024. */
export const minute = (number) => new Date(Date.UTC(2024, 6, 14, 0, number)).toISOString().replace('.000', '');

/**
 * Imports photos. Each has a time `at`, and perhaps a place: a latitude and a longitude. Photos of one time are the same photo.
 */
export async function importPhotos(service, person, photos) {
  const folder = await mkdtemp(join(tmpdir(), 'photo-places-'));
  try {
    for (const [index, photo] of photos.entries()) {
      await writeFile(join(folder, `p${index}.png`), png(Date.parse(photo.at) / 1000, 60, 45));
      await writeFile(join(folder, `p${index}.png.xmp`), sidecar(photo));
    }
    await service.run(['import', person.email, folder]);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Imports a photo for each of these places. The first is the oldest. */
export const importPlaces = (service, person, places) =>
  importPhotos(service, person, places.map((place, index) => ({ place, at: minute(index) })));
