// Connects the parts of the timeline (timeline.js).

async function startTimeline(root) {
  const selection = new Selection();
  const paint = (tile) => {
    const isSelected = selection.has(tile.photo);
    tile.item.classList.toggle('selected', isSelected);
    tile.check.checked = isSelected;
  };
  const paintMonths = () => {
    for (const { check } of scroller.sections.values()) {
      check.checked = !selection.isEmpty && selection.hasRange(...check.value.split(':').map(Number));
    }
  };
  let scrubber;
  let isReported = false;
  const scroller = new Scroller(root, {
    painted: paint,
    changed: () => {
      scrubber?.follow();
      paintMonths();
    },
    failed: ({ message }) => {
      if (!isReported) showMessage(message, 'Try again', retry);
      isReported = true;
    },
  });
  const retry = async () => {
    isReported = false;
    for (const month of scroller.library.months) for (const part of month.parts) part.hasFailed = false;
    await revalidate();
    scroller.render();
  };
  const update = () => {
    root.classList.toggle('selecting', !selection.isEmpty);
    for (const tile of scroller.tiles) paint(tile);
    paintMonths();
    actions.update();
  };
  const actions = new Actions(selection, scroller, root.dataset.token, update);
  /** Shows what has changed since: uploads, and edits on other pages. */
  const revalidate = async () => {
    await actions.refresh();
    scrubber?.update();
  };
  try {
    await scroller.start();
  } catch ({ message }) {
    return showMessage(message, 'Reload', () => location.reload());
  }
  scrubber = new Scrubber(scroller);
  scrubber.update();
  new Keys(root, scroller, selection, actions, update);
  addEventListener('online', retry);
  addEventListener('pageshow', ({ persisted }) => persisted && revalidate());
  document.addEventListener('visibilitychange', () => !document.hidden && revalidate());
  const opened = history.state?.active;
  const tile = [...scroller.tiles].find(({ photo }) => photo.id === opened);
  if (tile) {
    scroller.activate(tile.photo);
    tile.link.focus({ preventScroll: true });
  }
  return undefined;
}

const timelineRoot = document.getElementById('timeline');
if (timelineRoot) startTimeline(timelineRoot);
