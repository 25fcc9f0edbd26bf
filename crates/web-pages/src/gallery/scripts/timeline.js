// Connects the parts of the timeline.

async function startTimeline(root) {
  const selection = new Selection();
  const paint = ({ photo, item, check }) => {
    check.checked = selection.has(photo);
    item.classList.toggle('selected', check.checked);
  };
  const paintMonths = () => {
    for (const { check } of scroller.sections) check.checked = selection.hasRange(...rangeOf(check));
  };
  let scrubber;
  const scroller = new Scroller(root, {
    adopted: () => {
      for (const { check } of scroller.sections) if (changedEarly.has(check)) selection.setRange(...rangeOf(check), check.checked);
      for (const { photo, check } of scroller.tiles) if (changedEarly.has(check)) selection.set(photo, check.checked);
    },
    painted: paint,
    changed: () => {
      scrubber?.follow();
      paintMonths();
    },
    failed: ({ message }) => showMessage(message, 'Try again', retry),
  });
  const retry = async () => {
    for (const part of scroller.library.months.flatMap(({ parts }) => parts)) part.hasFailed = false;
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
  /** Shows changes since the last refresh, such as uploads and edits on other pages. */
  const revalidate = async () => {
    await actions.refresh();
    actions.update();
    scrubber?.update();
  };
  await scroller.start().catch((error) => {
    showMessage(error.message, 'Reload', () => location.reload());
    throw error;
  });
  scrubber = new Scrubber(scroller);
  scrubber.update();
  new Keys(root, scroller, selection, actions, update);
  update();
  addEventListener('online', retry);
  watchLibrary((generation) => generation === scroller.library.generation, revalidate);
  scroller.focusTile(history.state?.active);
}
