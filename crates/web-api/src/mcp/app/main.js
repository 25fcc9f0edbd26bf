// Puts it all together: what the host says, what is shown, and what people do.

const APP = { name: 'photo-library-gallery', title: 'Photos', version: '1' };
/** A longer gallery is scrolled within its frame, so that a conversation stays one. */
const TALLEST_PX = 720;
/** A dialog needs some room, however little the gallery does. */
const DIALOG_PX = 560;
const TOLD_AFTER_MS = 400;
/** Said where no vision model looks at photos. */
const BLIND = 'Only colours, light and words were searched, not what the photos show. Whoever runs the photo library can add a vision model for that.';
const SKELETON = [1.5, 0.75, 1.33, 1.5, 0.75, 1.78, 1.33, 1.5];

const hasAlbums = document.documentElement.dataset.albums === 'true';
const element = (id) => document.getElementById(id);
const main = element('gallery');
const notice = element('notice');
const state = element('state');
const more = element('more');
const selection = element('selection');

/** The last call of the model; answers to an older one are dropped. */
let listing = new Listing();
/** The arguments of the call that is under way, and of the one whose answer came last, where the host told them. */
let given;
let answered;
let isLoading = false;
let noticeAgain;
let albums = [];

const bridge = new Bridge(
  {
    'ui/notifications/tool-input-partial': ({ arguments: partial }) => {
      given = undefined;
      search(partial);
    },
    'ui/notifications/tool-input': ({ arguments: whole }) => search((given = whole ?? {})),
    'ui/notifications/tool-result': receive,
    'ui/notifications/tool-cancelled': cancelled,
    'ui/notifications/host-context-changed': (changes) => adapt(Object.assign(bridge.context, changes)),
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
    grid.loseRest();
    viewer.lose();
    warn(`Some photos may not load. ${explain(error)}`, () => renewal.run());
  },
});
const grid = new Grid(element('grid'), element('tile'), {
  open: (id) => {
    viewer.open(id, listing.query);
    measure();
  },
  changed: selectionChanged,
  helps: (image) => renewal.helps(image),
});
const viewer = new Viewer(element('viewer'), {
  images: () => [...listing.images.values()],
  hasMore: () => canCall() && listing.hasMore,
  more: showMore,
  helps: (image) => renewal.helps(image),
  isExpired: (image) => renewal.isExpired(image),
  isSelectable,
  isSelected: (id) => grid.isSelected(id),
  select: (ids, is) => grid.select(ids, is),
  closed: (id) => grid.focus(id),
});
const album = new AlbumMaker(element('album'), call, albumMade);

const canCall = () => Boolean(bridge.capabilities.serverTools);
const canMakeAlbums = () => hasAlbums && canCall();
/** Whether the host passes words on to the model. */
function canTell() {
  const kinds = bridge.capabilities.updateModelContext;
  return Boolean(kinds) && (Boolean(kinds.text) || Object.keys(kinds).length === 0);
}
function isSelectable() {
  return canMakeAlbums() || canTell();
}

/** Calls a tool of the library through the host. */
async function call(name, args) {
  return payloadOf(await bridge.request('tools/call', { name, arguments: args }));
}

// What the host says.

/** The model is about to look for photos. */
function search(args) {
  const query = text(args?.query);
  reset();
  element('title').textContent = query ? `“${query}”` : 'Photos';
  say(query ? `Looking for “${query}”…` : 'Looking for photos…');
  wait(true);
}

function receive(result) {
  reset();
  // The next answer may be that to a call of which nothing was told.
  answered = given;
  given = undefined;
  listing = new Listing(answered);
  try {
    const payload = payloadOf(result);
    const images = listing.add(payload, renewal.told(payload.urlsExpireAt));
    element('title').textContent = listing.query ? `“${listing.query}”` : 'Photos';
    note(Boolean(text(payload.note)));
    if (images.length === 0) return inform('No photos', nothingFound());
    grid.append(images, !renewal.isExpired(images[0]));
    listed();
    renewal.begin();
  } catch (error) {
    inform('The photos could not be shown', explain(error), true);
  }
}

function nothingFound() {
  if (listing.isAlbum) return 'This album has no photos.';
  return 'Nothing in your library matches. Try other words, another place or other dates.';
}

function cancelled() {
  reset();
  given = undefined;
  inform('Stopped', 'The assistant stopped before any photos came. Ask again if you still want to see them.');
}

/** Follows the host's looks, language and size. */
function adapt(context) {
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
  speak(text(context.locale));
  const isFull = context.displayMode === 'fullscreen';
  const button = element('full-screen');
  root.dataset.mode = isFull ? 'fullscreen' : 'inline';
  button.hidden = !(context.availableDisplayModes ?? []).includes(isFull ? 'inline' : 'fullscreen');
  button.querySelector('.unseen').textContent = isFull ? 'Leave full screen' : 'Full screen';
  measure();
}

// What is shown.

function reset() {
  renewal.stop();
  for (const dialog of [viewer, album]) dialog.close();
  listing = new Listing();
  setLoading(false);
  if (grid.selected.length) tellModel();
  grid.clear();
  wait(false);
  unwarn();
  for (const part of [state, more, selection, element('album-of-all')]) part.hidden = true;
  element('summary').textContent = '';
  note(false);
}

function say(words) {
  element('status').textContent = words;
}

/** Says what the search did not look at. */
function note(isBlind) {
  element('note').hidden = !isBlind;
  element('note').textContent = isBlind ? BLIND : '';
}

/** Empty frames stand where photos will be. */
function wait(is) {
  const skeleton = element('skeleton');
  const frames = is ? SKELETON : [];
  skeleton.hidden = !is;
  main.ariaBusy = String(is);
  skeleton.replaceChildren(
    ...frames.map((ratio) => {
      const frame = document.createElement('li');
      frame.style.setProperty('--ratio', ratio);
      return frame;
    }),
  );
}

/** Says what there is instead of photos. */
function inform(heading, words, isFault = false) {
  state.dataset.fault = isFault;
  state.querySelector('h2').textContent = heading;
  state.querySelector('p').textContent = words;
  const again = state.querySelector('button');
  again.hidden = !(isFault && answered && canCall());
  state.hidden = false;
  say([`${heading}.`, words, element('note').textContent].filter(Boolean).join(' '));
}

/** Says that something went wrong while the photos stay. */
function warn(words, again) {
  noticeAgain = again;
  notice.dataset.kind = 'fault';
  tell(words);
}

function tell(words) {
  notice.querySelector('p').textContent = words;
  notice.querySelector('[data-does="again"]').hidden = !noticeAgain;
  notice.hidden = false;
  say(words);
}

function unwarn() {
  noticeAgain = undefined;
  delete notice.dataset.kind;
  notice.hidden = true;
}

/** There are other photos than before. */
function listed() {
  const images = [...listing.images.values()];
  const count = listing.hasMore ? `The first ${photos(images.length)}` : photos(images.length);
  element('summary').textContent = [count, span(images)].filter(Boolean).join(' · ');
  more.hidden = !(canCall() && listing.hasMore);
  grid.isSelectable = isSelectable();
  offerAlbum();
  say([element('summary').textContent, element('note').textContent].filter(Boolean).join('. '));
}

function offerAlbum() {
  element('album-of-all').hidden = !canMakeAlbums() || listing.present.length === 0;
}

function selectionChanged() {
  const { selected } = grid;
  selection.hidden = selected.length === 0;
  selection.querySelector('strong').textContent = `${number(selected.length)} selected`;
  selection.querySelector('.hint').hidden = !canTell();
  selection.querySelector('[data-does="album"]').hidden = !canMakeAlbums();
  tellModel();
}

// What is asked of the library.

/** Photos by their ids. Those that are no longer in the library are left out: the tool refuses them, and says which. */
async function callFor(ids) {
  try {
    return await call(TOOL, { imageIds: ids });
  } catch (error) {
    const unknown = new Set(error.unknownIds);
    const known = ids.filter((id) => !unknown.has(id));
    if (known.length === ids.length) throw error;
    return known.length ? call(TOOL, { imageIds: known }) : { results: [] };
  }
}

/** Gets new addresses for the photos that are due, those first that somebody waits for. */
async function renew({ isDue, stamp, isWanted }) {
  for (;;) {
    const due = grid.byNeed(listing.present.filter(isDue).map(({ id }) => id));
    if (due.length === 0) break;
    const seen = due.filter((id) => id === viewer.id);
    const ids = [...new Set([...seen, ...due])].slice(0, MOST);
    const payload = await callFor(ids);
    if (!isWanted()) return;
    listing.renew(ids, payload, stamp(payload.urlsExpireAt));
    grid.refresh(ids);
    viewer.refresh(ids);
    offerAlbum();
  }
  if (noticeAgain) unwarn();
}

async function showMore() {
  if (isLoading || !listing.hasMore) return;
  const current = listing;
  const button = more.querySelector('button');
  setLoading(true);
  try {
    const payload = await call(TOOL, current.more());
    if (listing !== current) return;
    const images = current.add(payload, renewal.fresh(payload.urlsExpireAt));
    const hadFocus = document.activeElement === button;
    grid.append(images, true);
    renewal.extend();
    unwarn();
    listed();
    if (hadFocus && more.hidden && images.length) grid.focus(images[0].id);
  } catch (error) {
    if (listing === current) warn(`More photos could not be loaded. ${explain(error)}`, showMore);
  } finally {
    if (listing === current) setLoading(false);
  }
}

function setLoading(is) {
  const button = more.querySelector('button');
  isLoading = is;
  button.ariaDisabled = String(is);
  button.textContent = is ? 'Loading more…' : 'Show more';
}

/** Makes the model's call once more. */
async function searchAgain() {
  const args = answered;
  given = args;
  search(args);
  try {
    const result = await bridge.request('tools/call', { name: TOOL, arguments: args });
    if (given === args) receive(result);
  } catch (error) {
    if (given !== args) return;
    given = undefined;
    wait(false);
    inform('The photos could not be shown', explain(error), true);
  }
}

function albumMade({ id, title, count }) {
  albums.push({ id, title });
  grid.select(grid.selected, false);
  unwarn();
  tell(`The album “${title}” was made with ${photos(count)}.`);
  tellModel();
}

let telling;

/** Lets the model know what somebody did here, so that they can talk about it. */
function tellModel() {
  if (!canTell()) return;
  clearTimeout(telling);
  telling = setTimeout(() => {
    const { selected } = grid;
    const words = [
      selected.length ? `In the gallery, the user selected these images: ${selected.join(', ')}.` : '',
      ...albums.map(({ id, title }) => `In the gallery, the user made the album “${title}” (id ${id}).`),
    ];
    const content = words.filter(Boolean).map((words) => ({ type: 'text', text: words }));
    // It is told again with the next change.
    bridge.request('ui/update-model-context', { content }).catch(() => {});
  }, TOLD_AFTER_MS);
}

// What people do.

function askForAlbum(ids) {
  album.open(ids, listing.query);
  measure();
}

more.querySelector('button').addEventListener('click', showMore);
state.querySelector('button').addEventListener('click', searchAgain);
element('album-of-all').addEventListener('click', () => askForAlbum(listing.present.map(({ id }) => id)));
element('full-screen').addEventListener('click', async () => {
  const mode = bridge.context.displayMode === 'fullscreen' ? 'inline' : 'fullscreen';
  try {
    const result = await bridge.request('ui/request-display-mode', { mode });
    adapt(Object.assign(bridge.context, { displayMode: result?.mode }));
  } catch {
    say('The size cannot be changed right now.');
  }
});
selection.addEventListener('click', ({ target }) => {
  const { does } = target.closest('button')?.dataset ?? {};
  const { selected } = grid;
  if (does === 'album') askForAlbum(selected);
  if (does !== 'clear') return;
  grid.select(selected, false);
  grid.focus(selected[0]);
});
notice.addEventListener('click', ({ target }) => {
  const { does } = target.closest('button')?.dataset ?? {};
  const again = noticeAgain;
  if (does) unwarn();
  if (does === 'again') again?.();
});

// How large it is.

let reported;

/** Tells the host how tall the content wants to be. */
function measure() {
  const { height, maxHeight = Infinity } = bridge.context.containerDimensions ?? {};
  if (height !== undefined || bridge.context.displayMode === 'fullscreen') return;
  const isDialog = viewer.isOpen || album.isOpen;
  const content = Math.ceil(main.getBoundingClientRect().height);
  // The frame is not shown.
  if (content === 0) return;
  const wanted = Math.min(Math.max(content, isDialog ? DIALOG_PX : 0), TALLEST_PX, maxHeight);
  if (wanted === reported) return;
  reported = wanted;
  bridge.notify('ui/notifications/size-changed', { height: wanted });
}

async function begin() {
  search();
  if (window.parent === window) {
    reset();
    return inform('Photos', 'This page shows photos inside a conversation. Ask your assistant to show you some.');
  }
  try {
    await bridge.open(APP, { availableDisplayModes: ['inline', 'fullscreen'] });
  } catch (error) {
    reset();
    return inform('The photos could not be shown', 'The app that opened this gallery does not answer. Open the conversation again.', true);
  }
  renewal.isPossible = canCall();
  if (bridge.capabilities.openLinks) viewer.library.open = (url) => bridge.request('ui/open-link', { url }).catch(() => {});
  adapt(bridge.context);
  for (const dialog of [element('viewer'), element('album')]) dialog.addEventListener('close', measure);
  new ResizeObserver(measure).observe(main);
}

begin();
