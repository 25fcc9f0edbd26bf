// Connects the parts: messages of the host, what is shown, and actions of the user.

const APP = { name: 'photo-library-gallery', title: 'Photos', version: '1' };
/** A taller gallery scrolls within its frame. */
const MAX_HEIGHT_PX = 720;
/** Minimum height while a dialog is open. */
const DIALOG_HEIGHT_PX = 560;
const CONTEXT_DELAY_MS = 400;
/** Shown if no vision model took part in a search. */
const NO_MODEL_NOTE = 'The search matched only colours, light and words, not what the photos show. The operator of the photo library can add a vision model.';
const SKELETON = [1.5, 0.75, 1.33, 1.5, 0.75, 1.78, 1.33, 1.5];

const hasAlbums = document.documentElement.dataset.albums === 'true';
const element = (id) => document.getElementById(id);
const main = element('gallery');
const notice = element('notice');
const state = element('state');
const more = element('more');
const selection = element('selection');

/** The results of the last call of the model. Results of older calls are dropped. */
let listing = new Listing();
/** The arguments of the call in progress and of the last call with a result, if the host sent them. */
let pendingArgs;
let lastArgs;
let isLoading = false;
/** Whether the user lets the assistant's app change details of photos. */
let mayEdit = false;
let retryNotice;
let albums = [];

const bridge = new Bridge(
  {
    'ui/notifications/tool-input-partial': ({ arguments: partial }) => {
      pendingArgs = undefined;
      showSearching(partial);
    },
    'ui/notifications/tool-input': ({ arguments: whole }) => showSearching((pendingArgs = whole ?? {})),
    'ui/notifications/tool-result': showResult,
    'ui/notifications/tool-cancelled': showCancelled,
    'ui/notifications/host-context-changed': (changes) => applyContext(Object.assign(bridge.context, changes)),
  },
  {
    ping: () => ({}),
    'ui/resource-teardown': () => {
      renewal.stop();
      for (const dialog of [viewer, album]) dialog.close();
      return {};
    },
  },
);
const renewal = new Renewal({
  images: () => listing.present,
  renew,
  failed: (error) => {
    grid.failPending();
    viewer.showFailure();
    showError(`Some photos may not load. ${explain(error)}`, () => renewal.run());
  },
});
const grid = new Grid(element('grid'), element('tile'), {
  open: (id) => {
    viewer.open(id, listing.query);
    reportHeight();
  },
  changed: showSelection,
  renewFor: (image) => renewal.renewFor(image),
});
const viewer = new Viewer(element('viewer'), {
  images: () => [...listing.images.values()],
  hasMore: () => canCall() && listing.hasMore,
  more: showMore,
  renewFor: (image) => renewal.renewFor(image),
  isExpired: (image) => renewal.isExpired(image),
  isSelectable,
  isSelected: (id) => grid.isSelected(id),
  select: (ids, is) => grid.select(ids, is),
  canEdit,
  setFavorite,
  closed: (id) => grid.focus(id),
});
const album = new AlbumCreator(element('album'), call, showCreated);

const canCall = () => Boolean(bridge.capabilities.serverTools);
const canCreateAlbums = () => hasAlbums && canCall();
function canEdit() {
  return mayEdit && canCall();
}
/** Whether the host accepts context for the model. */
function canUpdateModel() {
  const kinds = bridge.capabilities.updateModelContext;
  return Boolean(kinds) && (Boolean(kinds.text) || Object.keys(kinds).length === 0);
}
function isSelectable() {
  return canCreateAlbums() || canEdit() || canUpdateModel();
}

/** Calls a tool of the library through the host. */
async function call(name, args) {
  return payloadOf(await bridge.request('tools/call', { name, arguments: args }));
}

// Messages of the host.

/** Shows that the model has started a call. */
function showSearching(args) {
  const query = text(args?.query);
  reset();
  element('title').textContent = query ? `“${query}”` : 'Photos';
  announce(query ? `Searching for “${query}”…` : 'Loading photos…');
  showSkeleton(true);
}

function showResult(result) {
  reset();
  // The arguments of the next call may be unknown.
  lastArgs = pendingArgs;
  pendingArgs = undefined;
  mayEdit = result?._meta?.[MAY_EDIT] === true;
  listing = new Listing(lastArgs);
  try {
    const payload = payloadOf(result);
    const images = listing.add(payload, renewal.modelStamp(payload.urlsExpireAt));
    element('title').textContent = listing.query ? `“${listing.query}”` : 'Photos';
    showNote(Boolean(text(payload.note)));
    if (images.length === 0) return showState('No photos', emptyMessage());
    grid.append(images, !renewal.isExpired(images[0]));
    updateSummary();
    renewal.start();
  } catch (error) {
    showState('The photos could not be shown', explain(error), true);
  }
}

function emptyMessage() {
  if (listing.isAlbum) return 'This album has no photos.';
  return 'No photos in your library match. Try other words, another place or other dates.';
}

function showCancelled() {
  reset();
  pendingArgs = undefined;
  showState('Stopped', 'The assistant stopped before any photos were loaded. Ask again if you want to see them.');
}

/** Applies the theme, language and size of the host. */
function applyContext(context) {
  const root = document.documentElement;
  if (context.theme === 'light' || context.theme === 'dark') root.dataset.theme = context.theme;
  for (const [name, value] of Object.entries(context.styles?.variables ?? {})) {
    if (name.startsWith('--') && typeof value === 'string') root.style.setProperty(name, value);
  }
  const fonts = text(context.styles?.css?.fonts);
  if (fonts && element('fonts')?.textContent !== fonts) {
    element('fonts')?.remove();
    const sheet = document.createElement('style');
    sheet.id = 'fonts';
    sheet.textContent = fonts;
    document.head.append(sheet);
  }
  for (const side of ['top', 'right', 'bottom', 'left']) {
    const inset = finite(context.safeAreaInsets?.[side]);
    if (inset !== undefined) root.style.setProperty(`--inset-${side}`, `${inset}px`);
  }
  setLocale(text(context.locale));
  const isFull = context.displayMode === 'fullscreen';
  const button = element('full-screen');
  root.dataset.mode = isFull ? 'fullscreen' : 'inline';
  button.hidden = !(context.availableDisplayModes ?? []).includes(isFull ? 'inline' : 'fullscreen');
  button.querySelector('.unseen').textContent = isFull ? 'Exit full screen' : 'Full screen';
  reportHeight();
}

// What is shown.

function reset() {
  renewal.stop();
  for (const dialog of [viewer, album]) dialog.close();
  listing = new Listing();
  setLoading(false);
  if (grid.selected.length) updateModel();
  grid.clear();
  showSkeleton(false);
  hideNotice();
  for (const part of [state, more, selection, element('album-of-all')]) part.hidden = true;
  element('summary').textContent = '';
  showNote(false);
}

function announce(words) {
  element('status').textContent = words;
}

/** Shows or hides the note about the limits of the search. */
function showNote(isShown) {
  element('note').hidden = !isShown;
  element('note').textContent = isShown ? NO_MODEL_NOTE : '';
}

/** Shows or removes placeholders for photos. */
function showSkeleton(isLoading) {
  const skeleton = element('skeleton');
  const frames = isLoading ? SKELETON : [];
  skeleton.hidden = !isLoading;
  main.ariaBusy = String(isLoading);
  skeleton.replaceChildren(
    ...frames.map((ratio) => {
      const frame = document.createElement('li');
      frame.style.setProperty('--ratio', ratio);
      return frame;
    }),
  );
}

/** Shows a message instead of photos. */
function showState(heading, words, isFault = false) {
  state.dataset.fault = isFault;
  state.querySelector('h2').textContent = heading;
  state.querySelector('p').textContent = words;
  const again = state.querySelector('button');
  again.hidden = !(isFault && lastArgs && canCall());
  state.hidden = false;
  announce([`${heading}.`, words, element('note').textContent].filter(Boolean).join(' '));
}

/** Shows an error above the photos; `retry` repeats the failed action. */
function showError(message, retry) {
  retryNotice = retry;
  notice.dataset.kind = 'fault';
  showNotice(message);
}

function showNotice(message) {
  notice.querySelector('p').textContent = message;
  notice.querySelector('[data-does="again"]').hidden = !retryNotice;
  notice.hidden = false;
  announce(message);
}

function hideNotice() {
  retryNotice = undefined;
  delete notice.dataset.kind;
  notice.hidden = true;
}

/** Updates the summary after photos were added. */
function updateSummary() {
  const images = [...listing.images.values()];
  const count = listing.hasMore ? `The first ${photos(images.length)}` : photos(images.length);
  element('summary').textContent = [count, dateRange(images)].filter(Boolean).join(' · ');
  more.hidden = !(canCall() && listing.hasMore);
  grid.isSelectable = isSelectable();
  showAlbumButton();
  announce([element('summary').textContent, element('note').textContent].filter(Boolean).join('. '));
}

function showAlbumButton() {
  element('album-of-all').hidden = !canCreateAlbums() || listing.present.length === 0;
}

function showSelection() {
  const { selected } = grid;
  selection.hidden = selected.length === 0;
  selection.querySelector('strong').textContent = `${number(selected.length)} selected`;
  selection.querySelector('.hint').hidden = !canUpdateModel();
  selection.querySelector('[data-does="album"]').hidden = !canCreateAlbums();
  const favorite = selection.querySelector('[data-does="favorite"]');
  favorite.hidden = !canEdit();
  favorite.textContent = listing.areFavorites(selected) ? 'Remove from favourites' : 'Favourite';
  updateModel();
}

// Calls to the library.

/** Requests photos by id. Ids that the tool rejects as unknown are left out of a second call. */
async function fetchImages(ids) {
  try {
    return await call(TOOL, { imageIds: ids });
  } catch (error) {
    const unknown = new Set(error.unknownIds);
    const known = ids.filter((id) => !unknown.has(id));
    if (known.length === ids.length) throw error;
    return known.length ? call(TOOL, { imageIds: known }) : { results: [] };
  }
}

/** Requests new URLs for the photos that are due, urgent ones first. */
async function renew({ isDue, stamp, isWanted }) {
  for (;;) {
    const due = grid.byUrgency(listing.present.filter(isDue).map(({ id }) => id));
    if (due.length === 0) break;
    const viewed = due.filter((id) => id === viewer.id);
    const ids = [...new Set([...viewed, ...due])].slice(0, MAX_IDS);
    const payload = await fetchImages(ids);
    if (!isWanted()) return;
    listing.renew(ids, payload, stamp(payload.urlsExpireAt));
    grid.refresh(ids);
    grid.showMarks(ids);
    viewer.refresh(ids);
    showAlbumButton();
  }
  if (retryNotice) hideNotice();
}

async function showMore() {
  if (isLoading || !listing.hasMore) return;
  const current = listing;
  const button = more.querySelector('button');
  setLoading(true);
  try {
    const payload = await call(TOOL, current.more());
    if (listing !== current) return;
    const images = current.add(payload, renewal.freshStamp(payload.urlsExpireAt));
    const hadFocus = document.activeElement === button;
    grid.append(images, true);
    renewal.extend();
    hideNotice();
    updateSummary();
    if (hadFocus && more.hidden && images.length) grid.focus(images[0].id);
  } catch (error) {
    if (listing === current) showError(`More photos could not be loaded. ${explain(error)}`, showMore);
  } finally {
    if (listing === current) setLoading(false);
  }
}

function setLoading(isBusy) {
  const button = more.querySelector('button');
  isLoading = isBusy;
  button.ariaDisabled = String(isBusy);
  button.textContent = isBusy ? 'Loading more…' : 'Show more';
}

/** Repeats the call of the model. */
async function retryCall() {
  const args = lastArgs;
  pendingArgs = args;
  showSearching(args);
  try {
    const result = await bridge.request('tools/call', { name: TOOL, arguments: args });
    if (pendingArgs === args) showResult(result);
  } catch (error) {
    if (pendingArgs !== args) return;
    pendingArgs = undefined;
    showSkeleton(false);
    showState('The photos could not be shown', explain(error), true);
  }
}

/** Adds photos to the favourites or removes them. */
async function setFavorite(ids, isFavorite) {
  const current = listing;
  for (const part of chunks(ids)) {
    await call('update_images', { imageIds: part, favorite: isFavorite });
    if (listing !== current) return;
    for (const id of part) current.images.get(id).isFavorite = isFavorite;
    grid.showMarks(part);
    viewer.refresh(part);
    showSelection();
  }
  announce(isFavorite ? `${photos(ids.length)} added to the favourites.` : `${photos(ids.length)} removed from the favourites.`);
}

let isChanging = false;

async function setFavorites(ids, isFavorite) {
  if (isChanging) return;
  isChanging = true;
  const current = listing;
  try {
    hideNotice();
    await setFavorite(ids, isFavorite);
  } catch (error) {
    if (listing === current) showError(`The photos could not be changed. ${explain(error)}`, () => setFavorites(ids, isFavorite));
  } finally {
    isChanging = false;
  }
}

function showCreated({ id, title, count }) {
  albums.push({ id, title });
  grid.select(grid.selected, false);
  hideNotice();
  showNotice(`The album “${title}” was created with ${photos(count)}.`);
  updateModel();
}

let updateTimer;

/** Sends the selection and the new albums to the model, so that the user can refer to them. */
function updateModel() {
  if (!canUpdateModel()) return;
  clearTimeout(updateTimer);
  updateTimer = setTimeout(() => {
    const { selected } = grid;
    const words = [
      selected.length ? `In the gallery, the user selected these images: ${selected.join(', ')}.` : '',
      ...albums.map(({ id, title }) => `In the gallery, the user created the album “${title}” (id ${id}).`),
    ];
    const content = words.filter(Boolean).map((words) => ({ type: 'text', text: words }));
    // A failed update is not retried. The next change sends everything again.
    bridge.request('ui/update-model-context', { content }).catch(() => {});
  }, CONTEXT_DELAY_MS);
}

// Actions of the user.

function openAlbumDialog(ids) {
  album.open(ids, listing.query);
  reportHeight();
}

more.querySelector('button').addEventListener('click', showMore);
state.querySelector('button').addEventListener('click', retryCall);
element('album-of-all').addEventListener('click', () => openAlbumDialog(listing.present.map(({ id }) => id)));
element('full-screen').addEventListener('click', async () => {
  const mode = bridge.context.displayMode === 'fullscreen' ? 'inline' : 'fullscreen';
  try {
    const result = await bridge.request('ui/request-display-mode', { mode });
    applyContext(Object.assign(bridge.context, { displayMode: result?.mode }));
  } catch {
    announce('The size cannot be changed right now.');
  }
});
selection.addEventListener('click', ({ target }) => {
  const { does } = target.closest('button')?.dataset ?? {};
  const { selected } = grid;
  if (does === 'album') openAlbumDialog(selected);
  if (does === 'favorite') setFavorites(selected, !listing.areFavorites(selected));
  if (does !== 'clear') return;
  grid.select(selected, false);
  grid.focus(selected[0]);
});
notice.addEventListener('click', ({ target }) => {
  const { does } = target.closest('button')?.dataset ?? {};
  const retry = retryNotice;
  if (does) hideNotice();
  if (does === 'again') retry?.();
});

// Height.

let reportedHeight;

/** Reports the height of the content to the host. */
function reportHeight() {
  const { height, maxHeight = Infinity } = bridge.context.containerDimensions ?? {};
  if (height !== undefined || bridge.context.displayMode === 'fullscreen') return;
  const isDialog = viewer.isOpen || album.isOpen;
  const content = Math.ceil(main.getBoundingClientRect().height);
  // The frame is hidden.
  if (content === 0) return;
  const wanted = Math.min(Math.max(content, isDialog ? DIALOG_HEIGHT_PX : 0), MAX_HEIGHT_PX, maxHeight);
  if (wanted === reportedHeight) return;
  reportedHeight = wanted;
  bridge.notify('ui/notifications/size-changed', { height: wanted });
}

async function start() {
  showSearching();
  if (window.parent === window) {
    reset();
    return showState('Photos', 'This page shows photos in a conversation. Ask your assistant to show you some.');
  }
  try {
    await bridge.open(APP, { availableDisplayModes: ['inline', 'fullscreen'] });
  } catch (error) {
    reset();
    return showState('The photos could not be shown', 'The app that opened this gallery does not respond. Reload the conversation.', true);
  }
  renewal.isPossible = canCall();
  if (bridge.capabilities.openLinks) viewer.library.open = (url) => bridge.request('ui/open-link', { url }).catch(() => {});
  applyContext(bridge.context);
  for (const dialog of [element('viewer'), element('album')]) dialog.addEventListener('close', reportHeight);
  new ResizeObserver(reportHeight).observe(main);
}

start();
