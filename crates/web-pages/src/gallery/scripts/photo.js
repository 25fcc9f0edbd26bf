// The photo page: zoom, and moving to the neighbours without loading another document.
//
// The pages and images of both neighbours are preloaded. Moving to a neighbour replaces the content of `main` and the history
// entry, so that Back leads to the timeline.

const PHOTO_KEYS = [
  ['Left, Right', 'Previous photo, next photo'],
  ['z, +, -', 'Zoom'],
  ['i', 'About this photo'],
  ['e', 'Edit'],
  ['f', 'Add to the favourites, or remove'],
  ['Escape', 'Back to the photos'],
];

/** Image pixels from which the largest image is loaded. */
const FULL_FROM_PX = 1_200;

function startPhoto(main) {
  pageKeys.unshift(...PHOTO_KEYS);
  const find = (selector) => main.querySelector(selector);
  const linkOf = (step) => find(step > 0 ? '[rel="next"]' : '[rel="prev"]');
  /** Requested pages: a promise of the document for each address. */
  const pages = new Map();
  let zoom;
  let hasMoved = false;
  let isSending = false;

  const parse = async (answer) => new DOMParser().parseFromString(await answer.text(), 'text/html');

  /** Requests the page of a neighbour and its image. */
  function load({ href }) {
    if (!pages.has(href)) {
      const page = fetch(href).then(async (answer) => {
        const parsed = answer.redirected || (await parse(answer));
        new Image().src = parsed.getElementById('photo').src;
        return parsed;
      });
      // A failed page is not requested again here. Moving to it loads the whole document.
      page.catch(() => {});
      pages.set(href, page);
    }
    return pages.get(href);
  }

  async function move(step) {
    const link = linkOf(step);
    if (!link) return undefined;
    const { id } = main.dataset;
    const page = await load(link).catch(() => undefined);
    if (main.dataset.id !== id) return undefined;
    if (!page) return location.replace(link.href);
    const focused = document.activeElement;
    const isInside = main.contains(focused);
    const copy = document.importNode(page.querySelector('main'), true);
    main.replaceChildren(...copy.childNodes);
    Object.assign(main.dataset, copy.dataset);
    document.title = page.title;
    hasMoved = true;
    history.replaceState(null, '', link.href);
    show();
    if (isInside) ((focused.rel && find(`[rel="${focused.rel}"]`)) || find('#viewer a')).focus({ preventScroll: true });
    return announce(find('#photo').alt);
  }

  /** Replaces what is known about the photo. The focus stays. */
  function showAbout(other) {
    const about = find('.about');
    const focused = document.activeElement;
    const isInside = about.contains(focused);
    about.replaceChildren(...document.importNode(other, true).childNodes);
    const near = focused.closest('.keywords') ? '#add' : '#favorite';
    if (isInside) (document.getElementById(focused.id) ?? find(near)).focus({ preventScroll: true });
  }

  /** Sends a form that changes the photo, and shows what is known about the photo then. */
  async function send(form, submitter) {
    if (isSending) return;
    isSending = true;
    const body = new URLSearchParams(new FormData(form, submitter));
    const page = await fetch(form.action, { method: 'POST', body }).then(parse).catch(() => undefined);
    isSending = false;
    const id = page?.querySelector('main.photo')?.dataset.id;
    if (!id) return void showMessage('Nothing was changed. Reload the page and try again.');
    for (const address of pages.keys()) if (address.includes(id)) pages.delete(address);
    const notice = page.querySelector('.notice');
    const undo = notice.querySelector('form');
    // The message of another photo can still be open. What was typed stays if it was refused.
    if (main.dataset.id === id && !notice.matches('.warn')) showAbout(page.querySelector('.about'));
    showMessage(notice.querySelector('p').textContent, ...(undo ? ['Undo', () => send(undo)] : []));
  }

  /** Prepares the photo that the page shows now. */
  function show() {
    const [viewer, image, link] = ['#viewer', '#photo', '#viewer a'].map(find);
    const { id, v } = main.dataset;
    const preload = () => {
      image.style.background = 'none';
      for (const neighbour of [1, -1].map(linkOf)) if (neighbour) load(neighbour);
    };
    if (image.complete) preload();
    else {
      // The small image is probably in the browser's cache. It is shown until the larger one has loaded.
      image.style.background = `url(/p/${id}/${v}/256.webp) center / contain no-repeat`;
      image.addEventListener('load', preload, { once: true });
    }
    zoom = new Zoom(viewer, image, {
      swiped: move,
      zoomed: (scale) => {
        const side = Math.max(image.clientWidth, image.clientHeight) * scale * devicePixelRatio;
        if (scale > 1 && side > FULL_FROM_PX && image.src !== link.href) showFull(image, link.href);
      },
    });
    link.addEventListener('click', (event) => {
      if (!isPlainClick(event)) return;
      event.preventDefault();
      // The click comes from the key Enter.
      if (event.detail === 0) zoom.toggle();
    });
  }

  /** Shows the largest image when it has been loaded. */
  function showFull(image, src) {
    const full = Object.assign(new Image(), { src });
    full.decode().then(() => (image.src = src), () => {});
  }

  function leave() {
    const back = find('.back').href;
    const pageOf = (address) => address.split('?')[0];
    if (pageOf(document.referrer) === pageOf(back) && !hasMoved && history.length > 1) history.back();
    else location.replace(back);
  }

  document.addEventListener('keydown', (event) => {
    const { key } = event;
    if (isTyping(event) || hasModifier(event) || (/^[a-z+=-]$/i.test(key) && !areLettersOn())) return;
    const action = {
      ArrowLeft: () => move(-1),
      ArrowRight: () => move(1),
      Escape: leave,
      i: () => find('.about').scrollIntoView(),
      e: () => find('.about a[href*="/edit"]')?.click(),
      f: () => find('#favorite').click(),
    }[key];
    if (zoom.key(key)) event.preventDefault();
    else if (action) {
      event.preventDefault();
      action();
    }
  });
  main.addEventListener('click', (event) => {
    const link = event.target.closest('a[rel="next"], a[rel="prev"]');
    if (!link || !isPlainClick(event)) return;
    event.preventDefault();
    move(link.rel === 'next' ? 1 : -1);
  });
  main.addEventListener('submit', (event) => {
    if (!/\/marks(\?|$)/.test(event.target.action)) return;
    event.preventDefault();
    send(event.target, event.submitter);
  });
  show();
}
