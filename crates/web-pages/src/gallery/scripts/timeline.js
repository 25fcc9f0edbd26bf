// Connects the parts of the timeline.

async function startTimeline(root) {
  const selection = new Selection();
  const paint = ({ photo, item, check }) => {
    check.checked = selection.has(photo);
    item.classList.toggle('selected', check.checked);
  };
  const paintRanges = () => {
    for (const check of root.querySelectorAll('[name="range"]')) check.checked = selection.hasRange(...rangeOf(check));
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
      paintRanges();
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
    paintRanges();
    updateBar();
  };
  const updateBar = () => (actions || !selection.isEmpty) && act((actions) => actions.update());
  let actions;
  /** Loads the actions with the first selected photo. */
  const act = (does) => {
    actions ??= import('./actions.js').then(({ Actions }) => new Actions(selection, scroller, root.dataset.token, update, refresh));
    actions.then(does, () => showMessage('The actions could not be loaded.', 'Reload', () => location.reload()));
  };
  /** Loads the totals again and draws what has changed. */
  const refresh = async () => {
    scroller.relayout();
    const isChanged = await scroller.library.refresh().catch(() => false);
    if (isChanged) scroller.relayout();
    scrubber?.update();
  };
  /** Shows changes since the last refresh, such as uploads and edits on other pages. */
  const revalidate = async () => {
    await refresh();
    updateBar();
  };
  await scroller.start().catch((error) => {
    showMessage(error.message, 'Reload', () => location.reload());
    throw error;
  });
  scrubber = new Scrubber(scroller);
  scrubber.update();
  new Keys(root, scroller, selection, act, update);
  const scaleButton = (text, step) => makeButton(text, () => scroller.scale(step));
  document.querySelector('form.theme')?.append(make('fieldset', {}, make('legend', {}, 'Photo size'), scaleButton('Smaller', -1), scaleButton('Larger', 1)));
  update();
  addEventListener('online', retry);
  watchLibrary((generation) => generation === scroller.library.generation, revalidate);
  scroller.focusTile(history.state?.active);
}
