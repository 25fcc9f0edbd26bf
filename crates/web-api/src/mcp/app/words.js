// Formats dates, distances and descriptions of photos.

/** The locale of dates; `undefined` is the browser's own. */
let locale;

/** Sets the locale of the host. The browser's own is used if it is invalid. */
function setLocale(tag) {
  try {
    locale = tag ? Intl.getCanonicalLocales(tag)[0] : undefined;
  } catch {
    locale = undefined;
  }
}

const MINUTE_MS = 60_000;

/** Parses an offset from UTC such as `+03:00` into minutes; `undefined` if unknown. */
function offsetOf(text) {
  const [, sign, hours, minutes] = /^([+-])(\d\d):(\d\d)$/.exec(text ?? '') ?? [];
  if (!sign) return undefined;
  return (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes));
}

/** The name of the time zone of a photo: `UTC+3`, `UTC−3:30`, or `UTC` if the offset is unknown. */
function zoneOf(offset) {
  if (offset === undefined) return 'UTC';
  const [hours, minutes] = [Math.trunc(Math.abs(offset) / 60), Math.abs(offset) % 60];
  return `UTC${offset < 0 ? '−' : '+'}${hours}${minutes ? `:${String(minutes).padStart(2, '0')}` : ''}`;
}

/**
 * The local time of a photo as a date whose UTC parts are local, because older browsers cannot format with an offset. UTC if
 * the offset is unknown.
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

/** The alternative text of a photo. */
function alternativeText(image) {
  const known = [image.description, image.place, dayOf(image), image.isFavorite && 'favourite'].filter(Boolean);
  const start = image.description ? '' : 'Photo: ';
  return known.length ? start + known.join(', ') : image.fileName || 'Photo';
}

/** The range from the earliest to the latest day. */
function dateRange(images) {
  const walls = images.map(({ wall }) => wall).filter(Boolean);
  if (walls.length === 0) return '';
  const first = new Date(Math.min(...walls));
  const last = new Date(Math.max(...walls));
  const format = new Intl.DateTimeFormat(locale, { timeZone: 'UTC', dateStyle: 'medium' });
  return format.formatRange(first, last);
}

/** Sets the text of an element and marks the words of the query. If it contains none of them, marks all of it. */
function mark(element, text, query) {
  const words = (query ?? '').match(/[\p{L}\p{N}]+/gu) ?? [];
  const found = words.length ? text.split(new RegExp(`(${words.join('|')})`, 'giu')) : [text];
  // Every second piece is a match.
  const pieces = found.map((piece, index) => (index % 2 || found.length === 1 ? marked(piece) : piece));
  element.replaceChildren(...pieces);
}

function marked(text) {
  const element = document.createElement('mark');
  element.textContent = text;
  return element;
}
