// The photo page: its keys, and moving to other photos without loading another document.
//
// The pages and images of both neighbours are preloaded. Moving to a photo replaces what the page says about it and the history
// entry, so that Back leads to the timeline.

const PHOTO_KEYS = [
  ['Left, Right', 'Previous photo, next photo'],
  ['z, +, -', 'Zoom'],
  ['i', 'About this photo'],
  ['e', 'Edit'],
  ['Ctrl Enter', 'Save what is edited'],
  ['f', 'Add to the favourites, or remove'],
  ['Shift f', 'Full screen'],
  ['Space', 'Start or stop the slideshow'],
  ['Escape', 'Back to the photos'],
];

/** Image pixels from which the largest image is loaded. */
const FULL_FROM_PX = 1_200;
/** Pages that are kept, for moves back and forth. */
const MAX_PAGES_KEPT = 12;
/** What differs from photo to photo, apart from the picture. */
const PARTS = ['h1', '.acts', '.stage > nav', '.about'];
/** Forms that are sent without leaving the page: marks, the cover of the album, and undoing. */
const SENT = /\/(marks|undo|cover)(\?|$)|\/albums\/[^/]+$/;

function startPhoto(main) {
  pageKeys.unshift(...PHOTO_KEYS);
  const find = (selector) => main.querySelector(selector);
  const linkOf = (step) => find(step > 0 ? '[rel="next"]' : '[rel="prev"]');
  const [viewer, link] = ['#viewer', '#viewer a'].map(find);
  /** Requested photos by address: the image, the page when it has arrived, and a promise of both. */
  const photos = new Map();
  const about = new AboutPanel(main);
  let hasMoved = false;
  let isSending = false;
  let updateStrip;
  let editing;

  closeConfirmations(main);
  const toggleControls = fadeControls(main);
  const swipes = new Swipes(viewer, {
    hasNeighbour: (step) => Boolean(linkOf(step)),
    moved: (step) => move(step),
    closed: () => leave(),
    raised: () => about.toggle(true),
  });
  const zoom = new Zoom(viewer, find('#photo'), {
    dragged: (across, along) => swipes.drag(across, along),
    released: (across, along) => swipes.release(across, along),
    takesWheel: true,
    zoomed: (scale) => {
      const image = find('#photo');
      const side = Math.max(image.clientWidth, image.clientHeight) * scale * devicePixelRatio;
      if (scale > 1 && side > FULL_FROM_PX && image.src !== link.href) showFull(image, link.href);
    },
  });
  const slideshow = new Slideshow(async () => {
    const { id } = main.dataset;
    await move(1, true);
    return main.dataset.id !== id;
  });

  const parse = async (answer) => new DOMParser().parseFromString(await answer.text(), 'text/html');

  /** Requests the page of a photo and its image. */
  function load(href) {
    if (!photos.has(href)) {
      const done = fetch(href).then(async (answer) => {
        const page = answer.ok && !answer.redirected && (await parse(answer));
        const image = document.importNode(page.getElementById('photo'));
        placePicture(image, page.querySelector('main').dataset);
        return { page, image };
      });
      // A failed page is not requested again here. Moving to it loads the whole document.
      done.catch(() => {});
      photos.set(href, done);
      if (photos.size > MAX_PAGES_KEPT) photos.delete(photos.keys().next().value);
    }
    return photos.get(href);
  }

  const move = (step, isQuiet) => {
    const to = linkOf(step);
    return to && open(to.href, isQuiet);
  };

  /** Shows another photo. */
  async function open(href, isQuiet) {
    const { id } = main.dataset;
    const isWriting = () => Boolean(document.activeElement.closest('form.correct'));
    const wasWriting = isWriting();
    const photo = await load(href).catch(() => undefined);
    // What is being corrected stays in sight.
    if (main.dataset.id !== id || document.querySelector('dialog[open]') || (isWriting() && !wasWriting)) return;
    if (!photo) return void location.replace(href);
    const other = document.importNode(photo.page.querySelector('main'), true);
    for (const step of [1, -1]) swipes.setBeside(step);
    zoom.reset();
    replace(other, PARTS, '#viewer a');
    const { image } = photo;
    Object.assign(image, { id: 'photo', className: '', hidden: false });
    image.style.transform = '';
    find('#photo').replaceWith(image);
    link.href = other.querySelector('#viewer a').href;
    find('.back').href = other.querySelector('.back').href;
    Object.assign(main.dataset, other.dataset);
    document.title = photo.page.title;
    hasMoved = true;
    history.replaceState(null, '', href);
    show(image);
    if (!isQuiet) announce(image.alt);
  }

  /** Replaces parts of the page. A control that had the focus gets it again, or another control if it is no longer there. */
  function replace(other, parts, near) {
    const focused = document.activeElement;
    const { id, rel } = focused;
    const isInside = parts.some((part) => find(part).contains(focused));
    for (const part of parts) find(part).replaceChildren(...other.querySelector(part).childNodes);
    about.prepare();
    const again = () => (focused.isConnected ? focused : id ? document.getElementById(id) : rel && find(`[rel="${rel}"]`));
    const focus = () => (again() || find(near)).focus({ preventScroll: true });
    // A form in the panel comes back after this.
    if (isInside && focused.closest('form.correct')) queueMicrotask(focus);
    else if (isInside) focus();
  }

  /** Sends a form and returns the page of the answer. */
  const post = (form, submitter) => fetch(form.action, { method: 'POST', body: new URLSearchParams(new FormData(form, submitter)) }).then(parse);

  /** Sends a form that changes the photo, and shows what is known about the photo then. */
  async function send(form, submitter) {
    if (isSending) return;
    isSending = true;
    const page = await post(form, submitter).catch(() => undefined);
    isSending = false;
    if (!page?.querySelector('main.photo')) return void showMessage('Nothing was changed. Reload the page and try again.');
    const of = form.closest('dd')?.previousElementSibling.querySelector('[id]')?.id;
    update(page, form.closest('.keywords') ? '#add' : `#${of ?? 'favorite'}`);
  }

  /** Shows what the page of a photo says after a form was sent. */
  function update(page, near) {
    const other = document.importNode(page.querySelector('main'), true);
    const notice = other.querySelector('.notice');
    const [links, linksNow] = [other, main].map((of) => of.querySelector('.stage > nav').innerHTML);
    // The pages of other photos of an album say which of them is its cover.
    for (const address of photos.keys()) if (address.includes(other.dataset.id) || other.querySelector('#cover')) photos.delete(address);
    // The message of another photo can still be open. What was typed stays if it was refused.
    if (main.dataset.id === other.dataset.id && !notice.matches('.warn')) {
      find('#photo').alt = other.querySelector('#photo').alt;
      document.title = page.title;
      Object.assign(main.dataset, other.dataset);
      replace(other, PARTS, near);
      // With another time, the photo has another place among the others.
      if (links !== linksNow) {
        photos.clear();
        show(find('#photo'), true);
      }
    }
    showNotice(notice);
  }

  /** Opens the form of a link on this page. */
  async function edit(link) {
    editing ??= import('./edit.js').then(({ startEditing }) =>
      startEditing(main, { parse, post, update, open, Gestures, showPanel: () => about.isOpen || about.toggle(true) }));
    await editing.then((start) => start(link)).catch(() => location.assign(link.href));
  }

  /** Shows the outcome of a form, with a button that undoes it. */
  function showNotice(notice) {
    const undo = notice.querySelector('form');
    showMessage(notice.querySelector('p').textContent, ...(undo ? ['Undo', () => send(undo)] : []));
  }

  /** Prepares the photo that the page shows now. */
  function show(image, isMoved) {
    const preload = () => {
      if (image !== find('#photo')) return;
      for (const step of [1, -1]) loadBeside(step);
      showStrip(isMoved);
    };
    zoom.reset(image);
    slideshow.again();
    if (image.complete) preload();
    else for (const name of ['load', 'error']) image.addEventListener(name, preload, { once: true });
  }

  async function loadBeside(step) {
    const { id } = main.dataset;
    const photo = linkOf(step) && (await load(linkOf(step).href).catch(() => undefined));
    if (photo && main.dataset.id === id) swipes.setBeside(step, photo.image);
  }

  /** Loads the filmstrip after the first picture, and moves it after others. The order of an album is unknown to it. */
  async function showStrip(isMoved) {
    if (!main.dataset.t) return;
    updateStrip ??= import('./strip.js').then(({ startStrip }) => startStrip(main, open));
    await updateStrip.then((update) => update(isMoved), () => (updateStrip = undefined));
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

  function escape() {
    if (slideshow.isRunning) slideshow.toggle();
    else if (about.isCovering) about.toggle(false);
    else leave();
  }

  document.addEventListener('keydown', (event) => {
    const { key, target } = event;
    if (isTyping(event) || hasModifier(event) || (/^[a-z+=-]$/i.test(key) && !areLettersOn())) return;
    // The keys of the slideshow and the zoom have other meanings on some controls.
    if (key === ' ' && target.closest('button, summary, [role="button"]')) return;
    const action = {
      ArrowLeft: () => move(-1),
      ArrowRight: () => move(1),
      Escape: escape,
      ' ': () => slideshow.toggle(),
      F: toggleFullScreen,
      i: () => about.toggle(),
      e: () => find('#edit').click(),
      f: () => find('#favorite').click(),
    }[key];
    if (zoom.key(key)) event.preventDefault();
    else if (action) {
      event.preventDefault();
      action();
    }
  });
  main.addEventListener('click', (event) => {
    const { target } = event;
    const control = target.closest('a[rel="next"], a[rel="prev"], #info, #back, #viewer > a, [id^="edit"]');
    // The text of the description can also be selected.
    if (target.closest('.description') && getSelection().isCollapsed) edit(find('#edit-description'));
    if (!control || !isPlainClick(event)) return;
    event.preventDefault();
    if (control.id.startsWith('edit')) edit(control);
    else if (control.rel) move(control.rel === 'next' ? 1 : -1);
    else if (control.id === 'info') about.toggle();
    else if (control.id === 'back') leave();
    // The click comes from the key Enter.
    else if (event.detail === 0) zoom.toggle();
    else if (event.pointerType === 'touch') toggleControls();
  });
  // The panel's button is a link without this script.
  main.addEventListener('keydown', (event) => {
    if (event.key !== ' ' || event.target.id !== 'info') return;
    event.preventDefault();
    about.toggle();
  });
  main.addEventListener('submit', (event) => {
    if (!SENT.test(event.target.getAttribute('action'))) return;
    event.preventDefault();
    send(event.target, event.submitter);
  });

  // The browser may show this page again, as it was when it was closed.
  addEventListener('pageshow', () => swipes.rest());

  find('.acts').before(slideshow.button);
  if (document.fullscreenEnabled) {
    const full = makeIconButton('full', 'Full screen', toggleFullScreen);
    full.className = 'wide-only';
    slideshow.button.after(full);
  }
  about.prepare();
  const notice = find('.notice:not(.warn)');
  if (notice) {
    notice.remove();
    showNotice(notice);
  }
  placePicture(find('#photo'), main.dataset);
  show(find('#photo'));
}
