// Rows of photos that fill the width of the grid. Part of first.js.
//
// The same photos in the same grid always give the same rows, and appended photos change only the last rows. The other scripts rely
// on this.

const PHOTO_SIZE = 'photo-library-size';
/** The size of the photos that the person has chosen, in steps from -MAX_SIZE to MAX_SIZE. The browser keeps it. */
let photoSize = 0;
const MAX_SIZE = 3;
try {
  setPhotoSize(Number(localStorage.getItem(PHOTO_SIZE)));
} catch {
  // Storage is disabled.
}

/** Sets the size of the photos, and returns whether it is another one. */
function setPhotoSize(size) {
  if (size === photoSize || !(Math.abs(size) <= MAX_SIZE)) return false;
  photoSize = size;
  try {
    localStorage.setItem(PHOTO_SIZE, size);
  } catch {
    // Storage is disabled.
  }
  return true;
}

/** The sizes of a grid of this width, in pixels. `day` is the height of the line above a row in which a day begins. */
function gridOf(width) {
  const day = Math.round(1.75 * parseFloat(getComputedStyle(document.documentElement).fontSize));
  const [target, gap] = width < 640 ? [120, 2] : [width > 1800 ? 260 : 200, 4];
  return { width, target: Math.round(target * 1.25 ** photoSize), gap, day };
}

/**
 * Breaks photos with these ratios (width to height) into rows `{ from, to, top, height }`, `to` exclusive. A row ends where
 * the sum of its ratios is nearest to that of a row of the target height. The last row of a month is not stretched; the last
 * row of an incomplete list (`continues`) is, because more photos follow below it. `days` has a text for each photo with which a
 * day begins. A row with such photos has a line of the height `line` above its photos; its `height` includes it.
 */
function rowsOf(ratios, { width, target, gap, day }, days, continues = false) {
  const wanted = width / target;
  const rows = [];
  let [from, sum, top] = [0, 0, 0];
  const close = (to, isStretched) => {
    const filled = (width - gap * (to - from - 1)) / sum;
    const texts = days.slice(from, to);
    const line = texts.some(Boolean) ? day : 0;
    const height = line + Math.round(isStretched ? filled : Math.min(filled, target));
    rows.push({ from, to, top, height, sum, isStretched, line, texts });
    top += height + gap;
    [from, sum] = [to, 0];
  };
  ratios.forEach((ratio, index) => {
    if (sum > 0 && sum + ratio - wanted > wanted - sum) close(index, true);
    sum += ratio;
    if (sum >= wanted) close(index + 1, true);
  });
  if (from === ratios.length) return rows;
  if (continues && sum < wanted / 2 && rows.length) {
    // The last photos are too few for a row, so they join the row above.
    const last = rows.pop();
    from = last.from;
    top = last.top;
    sum += last.sum;
  }
  close(ratios.length, continues || sum > wanted * 0.85);
  return rows;
}

/**
 * The cells `{ index, left, top, width, height, text, room, isTight }` of a row. Their edges are whole pixels, and the last one ends
 * at the right edge. `room` is the width up to the next text. `isTight` says that the text and its check box are probably wider: a
 * letter takes somewhat more than a quarter of the height of its line.
 */
function cellsOf(row, ratios, { width, gap, day }) {
  const count = row.to - row.from;
  const height = row.height - row.line;
  const scale = row.isStretched ? (width - gap * (count - 1)) / row.sum : height;
  let edge = 0;
  const cells = row.texts.map((text, place) => {
    const index = row.from + place;
    const left = Math.round(edge);
    edge += ratios[index] * scale;
    const cell = { index, left, top: row.top + row.line, width: Math.round(edge) - left, height, text };
    edge += gap;
    return cell;
  });
  cells.reduceRight((end, cell) => {
    cell.room = end - cell.left;
    cell.isTight = cell.text?.length * day > 3.5 * (cell.room - 44);
    return cell.text ? cell.left : end;
  }, width);
  return cells;
}

/**
 * Moves a photo to a cell, with the text of the day above it, or without its places if there is no room for them. Inline styles in markup are blocked by the Content-Security-Policy,
 * so this sets properties.
 */
function placeCell(item, cell) {
  for (const side of ['left', 'top', 'width', 'height']) item.style[side] = `${cell[side]}px`;
  const { text, room, isTight } = cell;
  if (item.text === text && (!text || item.room === room)) return;
  Object.assign(item, { text, room });
  let label = item.querySelector('h3');
  if (!text) return void label?.remove();
  if (!label) {
    label = Object.assign(document.createElement('h3'), { className: 'day' });
    item.prepend(label);
  }
  const shown = isTight ? text.split(' · ')[0] : text;
  if (label.textContent !== shown) label.textContent = shown;
  if (isTight) label.title = text;
  else label.removeAttribute('title');
  label.style.width = `${room}px`;
}

/** The height of the header while it stays at the top of the window. */
function barHeight() {
  const bar = document.querySelector('.top');
  return getComputedStyle(bar).position === 'sticky' ? bar.offsetHeight : 0;
}
