// Places the photos of the page before the first paint (first.js, blocking in the head). It is a classic script, so the
// functions of layout.js are also visible to the modules that load later.

document.documentElement.classList.add('script');

/** The lists that were placed, with the number of their photos. */
const placedLists = new Map();

/** Places the photos of a list that the server rendered. */
function placeList(list) {
  const tiles = [...list.children];
  const grid = gridOf(list.clientWidth);
  const ratios = tiles.map((tile) => Number(tile.dataset.r) || 1);
  const rows = rowsOf(ratios, grid);
  for (const row of rows) {
    for (const { index, left, width } of cellsOf(row, ratios, grid)) placeCell(tiles[index], left, row.top, width, row.height);
  }
  const last = rows.at(-1);
  list.style.height = `${last ? last.top + last.height : 0}px`;
  placedLists.set(list, tiles.length);
}

/** Places lists that have grown, and shows the photo of `?at=` where it was. */
function placeParsed() {
  for (const list of document.querySelectorAll('.library ul.rows')) {
    if (placedLists.get(list) !== list.childElementCount) placeList(list);
  }
  const timeline = document.getElementById('timeline');
  const tile = timeline?.dataset.at && timeline.querySelector('ul.rows > li');
  if (!tile) return;
  timeline.style.minHeight = '150vh';
  const offset = history.state?.offset ?? timeline.querySelector('h2').offsetHeight;
  scrollTo({ top: scrollY + tile.getBoundingClientRect().top - offset, behavior: 'instant' });
}

const parsed = new MutationObserver(placeParsed);
parsed.observe(document.documentElement, { childList: true, subtree: true });
document.addEventListener('DOMContentLoaded', () => {
  placeParsed();
  parsed.disconnect();
  if (document.getElementById('timeline')) {
    history.scrollRestoration = 'manual';
    return;
  }
  // Other grids do not change, except with the width of the window.
  const resized = new ResizeObserver((entries) => {
    for (const { target } of entries) placeList(target);
  });
  for (const list of placedLists.keys()) resized.observe(list);
});
