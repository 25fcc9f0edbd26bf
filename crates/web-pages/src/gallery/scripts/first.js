// Places the photos of the timeline before the first paint: first.js is in the head and blocks rendering. It is a classic script,
// so the functions of layout.js are also visible to the module that loads later.

document.documentElement.classList.add('script');

/** The check boxes that the person has changed. The module of the timeline, which loads later, takes them over. */
const changedEarly = new WeakSet();
document.addEventListener('change', ({ target }) => changedEarly.add(target));

/** Places the photos of a list that the server rendered. Those below the first screen load later, in the order of library.js. */
function placeList(list) {
  const tiles = [...list.children];
  list.placed = tiles.length;
  const grid = gridOf(list.clientWidth);
  const ratios = tiles.map(({ dataset }) => Number(dataset.r));
  const rows = rowsOf(ratios, grid, tiles.map((tile) => tile.querySelector('.day')?.textContent));
  const end = innerHeight - list.getBoundingClientRect().top;
  for (const row of rows) {
    for (const cell of cellsOf(row, ratios, grid)) {
      const tile = tiles[cell.index];
      placeCell(tile, cell);
      if (row.top > end) for (const name of ['srcset', 'src']) tile.querySelector('img')?.removeAttribute(name);
    }
  }
  const { top, height } = rows.at(-1);
  list.style.height = `${top + height}px`;
}

/** Places lists that have grown. Scrolls the photo of `?at=` to its earlier position in the window. */
function placeParsed() {
  for (const list of document.querySelectorAll('#timeline ul.rows')) {
    if ((list.placed ?? 0) !== list.childElementCount) placeList(list);
  }
  const timeline = document.getElementById('timeline');
  const tile = timeline?.dataset.at && timeline.querySelector('ul.rows > li');
  if (!tile) return;
  timeline.style.minHeight = '150vh';
  const offset = history.state?.offset ?? timeline.querySelector('h2').offsetHeight + gridOf(timeline.clientWidth).day;
  scrollBy({ top: tile.getBoundingClientRect().top - barHeight() - offset, behavior: 'instant' });
}

const parsed = new MutationObserver(placeParsed);
parsed.observe(document.documentElement, { childList: true, subtree: true });
document.addEventListener('DOMContentLoaded', () => {
  placeParsed();
  parsed.disconnect();
  if (document.getElementById('timeline')) history.scrollRestoration = 'manual';
});
