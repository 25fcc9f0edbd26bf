// Rows of photos that fill the width of the grid. Part of first.js.
//
// Pure functions: the same photos and the same width always give the same rows, and appended photos change only the last rows. The
// other scripts rely on this.

/** The sizes of a grid of this width, in pixels. */
function gridOf(width) {
  if (width < 640) return { width, target: 120, gap: 2 };
  return { width, target: width > 1800 ? 260 : 200, gap: 4 };
}

/**
 * Breaks photos with these ratios (width to height) into rows `{ from, to, top, height }`, `to` exclusive. A row ends where
 * the sum of its ratios is nearest to that of a row of the target height. The last row of a month is not stretched; the last
 * row of an incomplete list (`continues`) is, because more photos follow below it.
 */
function rowsOf(ratios, { width, target, gap }, continues = false) {
  const wanted = width / target;
  const rows = [];
  let [from, sum, top] = [0, 0, 0];
  const close = (to, isStretched) => {
    const filled = (width - gap * (to - from - 1)) / sum;
    const height = Math.round(isStretched ? filled : Math.min(filled, target));
    rows.push({ from, to, top, height, sum, isStretched });
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

/** The cells `{ index, left, top, width, height }` of a row. Their edges are whole pixels, and the last one ends at the right edge. */
function cellsOf(row, ratios, { width, gap }) {
  const count = row.to - row.from;
  const scale = row.isStretched ? (width - gap * (count - 1)) / row.sum : row.height;
  let edge = 0;
  return Array.from({ length: count }, (_, place) => {
    const index = row.from + place;
    const left = Math.round(edge);
    edge += ratios[index] * scale;
    const cell = { index, left, top: row.top, width: Math.round(edge) - left, height: row.height };
    edge += gap;
    return cell;
  });
}

/** Moves an element to a cell. Inline styles in markup are blocked by the Content-Security-Policy, so this sets properties. */
function placeCell({ style }, cell) {
  for (const side of ['left', 'top', 'width', 'height']) style[side] = `${cell[side]}px`;
}

/** The height of the header while it stays at the top of the window. */
function barHeight() {
  const bar = document.querySelector('.top');
  return getComputedStyle(bar).position === 'sticky' ? bar.offsetHeight : 0;
}
