// The photo page (photo.js): zoom, and the neighbours without loading another document.
//
// The pages of both neighbours are requested early, with their images. Moving to one replaces the content of `main` and the entry
// of the history, so that Back leads to the timeline.

/** Image pixels from which the largest image is loaded. */
const FULL_FROM_PX = 1_200;

const photoPage = document.querySelector('main.photo');
/** Requested pages: path to a promise of their `main`. */
const photoPages = new Map();
let photoZoom;
let hasMoved = false;

const photoLink = (step) => photoPage.querySelector(step > 0 ? '[rel="next"]' : '[rel="prev"]');

/** Requests the page of a neighbour and its image. */
function loadPhotoPage(path) {
  if (!photoPages.has(path)) {
    const page = fetch(path).then(async (answer) => {
      if (!answer.ok || answer.redirected) throw new Error(`status ${answer.status}`);
      const parsed = new DOMParser().parseFromString(await answer.text(), 'text/html');
      const main = parsed.querySelector('main.photo');
      new Image().src = main.querySelector('#photo').src;
      return { main, title: parsed.title };
    });
    // Not requested again until it is opened, which then loads the document.
    page.catch(() => {});
    photoPages.set(path, page);
  }
  return photoPages.get(path);
}

async function movePhoto(step) {
  const link = photoLink(step);
  if (!link) return;
  const [from, path] = [photoPage.dataset.id, link.getAttribute('href')];
  const page = await loadPhotoPage(path).catch(() => undefined);
  if (photoPage.dataset.id !== from) return;
  if (!page) {
    location.replace(path);
    return;
  }
  const focused = document.activeElement;
  const isInside = photoPage.contains(focused);
  const selector = focused.rel ? `[rel="${focused.rel}"]` : '#viewer a';
  const copy = document.importNode(page.main, true);
  photoPage.replaceChildren(...copy.childNodes);
  for (const name of ['id', 't', 'v', 'newer', 'older']) photoPage.dataset[name] = copy.dataset[name] ?? '';
  document.title = page.title;
  hasMoved = true;
  history.replaceState(null, '', path);
  showPhoto();
  if (isInside) (photoPage.querySelector(selector) ?? photoPage.querySelector('#viewer a')).focus({ preventScroll: true });
  const status = document.getElementById('status');
  if (status) status.textContent = photoPage.querySelector('#photo').alt;
}

/** Prepares the photo that the page shows now. */
function showPhoto() {
  const viewer = photoPage.querySelector('#viewer');
  const image = viewer.querySelector('#photo');
  const { id, v } = photoPage.dataset;
  if (!image.complete) {
    // The small image is in the cache of the browser.
    image.style.background = `url(/p/${id}/${v}/256.webp) center / contain no-repeat`;
    image.addEventListener('load', () => (image.style.background = 'none'), { once: true });
  }
  photoZoom = new Zoom(viewer, image, {
    swiped: movePhoto,
    zoomed: (scale) => {
      const side = Math.max(image.clientWidth, image.clientHeight) * scale * devicePixelRatio;
      if (scale > 1 && side > FULL_FROM_PX && !image.src.endsWith('full.webp')) showFull(image);
    },
  });
  viewer.querySelector('a').addEventListener('click', (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    // Enter on the link.
    if (event.detail === 0) photoZoom.toggle();
  });
  const preload = () => [1, -1].map(photoLink).forEach((link) => link && loadPhotoPage(link.getAttribute('href')));
  if (image.complete) preload();
  else image.addEventListener('load', preload, { once: true });
}

/** Shows the largest image when it has been loaded. */
function showFull(image) {
  const full = new Image();
  full.src = image.closest('a').href;
  full.decode().then(() => (image.src = full.src), () => {});
}

function leavePhoto() {
  const back = photoPage.querySelector('.back')?.href ?? '/';
  const isFromTimeline = document.referrer && new URL(document.referrer).origin === location.origin && new URL(document.referrer).pathname === new URL(back).pathname;
  if (isFromTimeline && !hasMoved && history.length > 1) history.back();
  else location.replace(back);
}

function pressKey(event) {
  const { key } = event;
  if (isTyping(event) || event.ctrlKey || event.metaKey) return;
  const letters = {
    i: () => photoPage.querySelector('.about')?.scrollIntoView(),
    e: () => photoPage.querySelector('.about a[href*="/edit"]')?.click(),
  };
  const isLetter = /^[a-z+=-]$/i.test(key);
  if (isLetter && !areLettersOn()) return;
  const action = { ArrowLeft: () => movePhoto(-1), ArrowRight: () => movePhoto(1), Escape: leavePhoto, ...letters }[key];
  if (photoZoom.key(key)) event.preventDefault();
  else if (action) {
    event.preventDefault();
    action();
  }
}

if (photoPage) {
  showPhoto();
  document.addEventListener('keydown', pressKey);
  photoPage.addEventListener('click', (event) => {
    const link = event.target.closest('a[rel="next"], a[rel="prev"]');
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    movePhoto(link.rel === 'next' ? 1 : -1);
  });
}
