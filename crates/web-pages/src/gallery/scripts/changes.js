// Polls the library for changes while the page is visible, so that new photos appear by themselves.

const LOOK_MS = 2_000;
/** The longest pause after failed requests, and the time-out of a request. */
const MAX_LOOK_MS = 30_000;

/**
 * Calls `changed()` when the page does not show the present generation of the library, as `isShown(generation)` says. Calls
 * `waiting(count)` with the number of photos that are being read. Without `waiting`, announces to screen readers when reading
 * begins and ends, unless photos are being uploaded on this page. A slim bar shows the progress.
 */
function watchLibrary(isShown, changed, waiting) {
  const bar = make('progress', { id: 'reading', hidden: true });
  document.querySelector('main').append(bar);
  let timer;
  let isLooking = false;
  let failures = 0;
  let most = 0;

  function show(count) {
    if (waiting) waiting(count);
    else if (!count !== !most && !document.querySelector('#tray[data-state="sending"]')) announce(count ? beingRead(count) : 'All photos are read.');
    most = count && Math.max(most, count);
    bar.hidden = !count;
    Object.assign(bar, { max: Math.max(1, most), value: most - count, ariaLabel: beingRead(count) });
  }

  async function look() {
    timer = clearTimeout(timer);
    if (document.hidden || isLooking) return;
    isLooking = true;
    try {
      const { gen, reading } = await requestJson('/web/timeline', { signal: AbortSignal.timeout(MAX_LOOK_MS) });
      show(reading);
      if (!isShown(gen)) await changed();
      failures = 0;
    } catch {
      failures += 1;
    }
    isLooking = false;
    timer = setTimeout(look, Math.min(LOOK_MS * 2 ** failures, MAX_LOOK_MS));
  }

  document.addEventListener('visibilitychange', look);
  addEventListener('pageshow', look);
  addEventListener('online', look);
  look();
}

const beingRead = (count) => `${photosText(count)} ${count === 1 ? 'is' : 'are'} being read.`;

/** The page of a library without photos. */
function startEmpty({ dataset }) {
  const text = document.getElementById('waiting');
  const upload = document.getElementById('upload');
  const shown = document.getElementById('shown');
  // This promise never settles. Otherwise, another poll could reload again, and cancel the reload on a slow server.
  const reload = () => new Promise(() => location.reload());
  const waiting = (count) => {
    const words = count ? beingRead(count) : '';
    if (text.textContent !== words) text.textContent = words;
  };
  const show = () => {
    const { stays } = upload.dataset;
    if (!stays) return reload();
    const isSending = stays === 'sending';
    if (shown.hidden && !isSending) announce('Your photos are in the library.');
    shown.hidden = isSending;
    return undefined;
  };
  watchLibrary((generation) => generation === dataset.gen, show, waiting);
}
