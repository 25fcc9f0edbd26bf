// What people read about photos.

/** The locale of dates; `undefined` is the browser's own. */
let locale;

/** Takes a locale of the host's; one that does not exist leaves the browser's. */
function speak(tag) {
  try {
    locale = tag ? Intl.getCanonicalLocales(tag)[0] : undefined;
  } catch {
    locale = undefined;
  }
}

const MINUTE_MS = 60_000;

/** The minutes by which a wall clock is ahead of UTC, from `+03:00`; `undefined` where that is not known. */
function offsetOf(text) {
  const [, sign, hours, minutes] = /^([+-])(\d\d):(\d\d)$/.exec(text ?? '') ?? [];
  if (!sign) return undefined;
  return (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes));
}

/** The name of the clock that photos are dated by: `UTC+3`, `UTC−3:30`, or `UTC` where the local time is not known. */
function zoneOf(offset) {
  if (offset === undefined) return 'UTC';
  const [hours, minutes] = [Math.trunc(Math.abs(offset) / 60), Math.abs(offset) % 60];
  return `UTC${offset < 0 ? '−' : '+'}${hours}${minutes ? `:${String(minutes).padStart(2, '0')}` : ''}`;
}

/**
 * What the wall clock showed where a photo was taken, or a clock in UTC where that is not known, as a date whose UTC
 * parts are those of the clock: older browsers take no offset for a time zone.
 */
function wallOf(capturedAt, offset = 0) {
  const wall = new Date(Date.parse(capturedAt) + offset * MINUTE_MS);
  return Number.isNaN(wall.getTime()) ? undefined : wall;
}

const dated = (wall, options) => new Intl.DateTimeFormat(locale, { timeZone: 'UTC', ...options }).format(wall);
const dayOf = ({ wall }) => (wall ? dated(wall, { dateStyle: 'medium' }) : '');
const momentOf = ({ wall, zone }) => (wall ? `${dated(wall, { dateStyle: 'full', timeStyle: 'short' })} (${zone})` : '');
const number = (value) => new Intl.NumberFormat(locale).format(value);
const photos = (count) => (count === 1 ? '1 photo' : `${number(count)} photos`);

function distance(metres) {
  if (metres < 1000) return `${number(Math.round(metres))} m`;
  return `${new Intl.NumberFormat(locale, { maximumSignificantDigits: 3 }).format(metres / 1000)} km`;
}

/** The text for people who do not see the photo. */
function alternative(image) {
  const known = [image.description, image.place, dayOf(image)].filter(Boolean);
  const start = image.description ? '' : 'Photo: ';
  return known.length ? start + known.join(', ') : image.fileName || 'Photo';
}

/** The first and the last day of photos in any order. */
function span(images) {
  const walls = images.map(({ wall }) => wall).filter(Boolean);
  if (walls.length === 0) return '';
  const first = new Date(Math.min(...walls));
  const last = new Date(Math.max(...walls));
  const format = new Intl.DateTimeFormat(locale, { timeZone: 'UTC', dateStyle: 'medium' });
  return format.formatRange(first, last);
}

/** Puts text into an element, with the words that were looked for marked; all of it, where none of them stands in it. */
function mark(element, text, query) {
  const words = (query ?? '').match(/[\p{L}\p{N}]+/gu) ?? [];
  const found = words.length ? text.split(new RegExp(`(${words.join('|')})`, 'giu')) : [text];
  // Every second piece is what was looked for.
  const pieces = found.map((piece, place) => (place % 2 || found.length === 1 ? marked(piece) : piece));
  element.replaceChildren(...pieces);
}

function marked(text) {
  const element = document.createElement('mark');
  element.textContent = text;
  return element;
}
