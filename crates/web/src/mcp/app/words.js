// What is said about pictures.

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

// The library knows a moment, not the clock on the wall where the picture was taken; a camera that names no time zone
// is taken to mean UTC. So all are told in UTC.
const said = (time, options) => new Intl.DateTimeFormat(locale, { timeZone: 'UTC', ...options }).format(time);
const dayOf = ({ time }) => (time ? said(time, { dateStyle: 'medium' }) : '');
const momentOf = ({ time }) => (time ? `${said(time, { dateStyle: 'full', timeStyle: 'short' })} UTC` : '');
const number = (value) => new Intl.NumberFormat(locale).format(value);
const pictures = (count) => (count === 1 ? '1 picture' : `${number(count)} pictures`);

function distance(metres) {
  if (metres < 1000) return `${number(Math.round(metres))} m`;
  return `${new Intl.NumberFormat(locale, { maximumSignificantDigits: 3 }).format(metres / 1000)} km`;
}

/** What somebody is told who does not see the picture. */
function alternative(image) {
  const known = [image.description, image.place, dayOf(image)].filter(Boolean);
  const start = image.description ? '' : 'Photo: ';
  return known.length ? start + known.join(', ') : image.fileName || 'Photo';
}

/** From when to when pictures are, in whatever order they come. */
function span(images) {
  const times = images.map(({ time }) => time).filter(Boolean);
  if (times.length === 0) return '';
  const first = new Date(Math.min(...times));
  const last = new Date(Math.max(...times));
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
