// The photos in rows. One of them is in the tab order; arrow keys move to the others. Photos can be selected.

/** The grid crops wider and narrower photos, so that rows stay even. */
const MAX_RATIO = 2.4;
const MIN_RATIO = 0.6;
/** If there are at most this many photos, they are shown large. */
const LARGE_COUNT = 3;

class Grid {
  #list;
  #template;
  #tiles = new Map();
  #selected = new Set();
  #last;
  #actions;
  #isSelectable = false;

  /** `actions` has `open` (shows a photo), `changed` (the selection changed) and `renewFor` (see `Renewal`). */
  constructor(list, template, actions) {
    this.#list = list;
    this.#template = template;
    this.#actions = actions;
    list.addEventListener('keydown', (event) => this.#move(event));
    list.addEventListener('focusin', ({ target }) => this.#enter(target.closest('li')));
  }

  /** Ids of the selected photos, in the order of the grid. */
  get selected() {
    return [...this.#tiles.keys()].filter((id) => this.#selected.has(id));
  }

  get #isLarge() {
    return this.#tiles.size <= LARGE_COUNT;
  }

  set isSelectable(isSelectable) {
    this.#isSelectable = isSelectable;
    for (const tile of this.#tiles.values()) this.#showCheckbox(tile);
  }

  clear() {
    this.#tiles.clear();
    this.#selected.clear();
    this.#last = undefined;
    this.#list.replaceChildren();
    this.#list.hidden = true;
  }

  /** Appends photos. If their URLs have expired, `refresh` sets new ones later. */
  append(images, hasUrls) {
    const isFirst = this.#tiles.size === 0;
    for (const image of images) this.#tiles.set(image.id, this.#tile(image));
    this.#list.dataset.count = this.#isLarge ? this.#tiles.size : 'many';
    if (hasUrls) this.refresh(images.map(({ id }) => id));
    this.#list.append(...images.map(({ id }) => this.#tiles.get(id).item));
    this.#list.hidden = this.#tiles.size === 0;
    if (isFirst && images.length) this.#enter(this.#list.firstElementChild);
  }

  /** Sets the URLs of these photos, except those that have loaded. */
  refresh(ids) {
    const tiles = ids.map((id) => this.#tiles.get(id)).filter(Boolean);
    const deleted = tiles.filter(({ image }) => image.isDeleted);
    for (const tile of deleted) this.#markDeleted(tile);
    const unselected = deleted.map(({ image }) => image.id).filter((id) => this.#selected.has(id));
    if (unselected.length) this.select(unselected, false);
    for (const tile of tiles) {
      const { image, picture } = tile;
      const source = this.#isLarge ? image.medium : image.thumb;
      if (image.isDeleted || isLoaded(picture)) continue;
      if (!source) {
        this.#markFailed(tile);
      } else if (picture.src !== source) {
        tile.item.dataset.state = 'loading';
        tile.lost.hidden = true;
        picture.src = source;
      } else if (picture.complete) {
        this.#markFailed(tile);
      }
    }
  }

  /** Marks photos that wait for new URLs as failed. */
  failPending() {
    for (const tile of this.#tiles.values()) {
      if (tile.item.dataset.state === 'loading' && tile.picture.complete) this.#markFailed(tile);
    }
  }

  /** Sorts ids by urgency: photos that have not loaded first, then by distance from the viewport. */
  byUrgency(ids) {
    const entries = ids.map((id) => {
      const { item, picture } = this.#tiles.get(id);
      const { top, bottom } = item.getBoundingClientRect();
      return { id, isLoaded: isLoaded(picture), distance: Math.max(top - window.innerHeight, -bottom, 0) };
    });
    return entries.sort((a, b) => a.isLoaded - b.isLoaded || a.distance - b.distance).map(({ id }) => id);
  }

  select(ids, isSelected) {
    for (const id of ids) {
      const tile = this.#tiles.get(id);
      if (!tile || (isSelected && tile.image.isDeleted)) continue;
      if (isSelected) this.#selected.add(id);
      else this.#selected.delete(id);
      tile.check.checked = isSelected;
      tile.item.dataset.selected = isSelected;
    }
    this.#list.dataset.selecting = this.#selected.size > 0;
    this.#actions.changed();
  }

  isSelected(id) {
    return this.#selected.has(id);
  }

  focus(id) {
    this.#tiles.get(id)?.button.focus();
  }

  #tile(image) {
    const item = this.#template.content.firstElementChild.cloneNode(true);
    const [button, picture, check, lost] = ['button', 'img', 'input', '.lost'].map((name) => item.querySelector(name));
    const [day, place] = item.querySelectorAll('.caption span');
    const ratio = Math.min(Math.max(image.width / image.height, MIN_RATIO), MAX_RATIO);
    item.style.setProperty('--ratio', ratio.toFixed(4));
    item.dataset.state = 'loading';
    item.dataset.id = image.id;
    day.textContent = dayOf(image);
    place.textContent = image.place ?? image.description ?? '';
    for (const control of [button, check]) control.tabIndex = -1;
    const tile = { item, button, picture, check, lost, image };
    this.#showMarks(tile);
    this.#showCheckbox(tile);
    picture.addEventListener('load', () => {
      item.dataset.state = 'loaded';
      lost.hidden = true;
    });
    picture.addEventListener('error', () => this.#actions.renewFor(image) || this.#markFailed(tile));
    button.addEventListener('click', () => this.#actions.open(image.id));
    check.addEventListener('click', ({ shiftKey }) => this.#choose(image.id, check.checked, shiftKey));
    return tile;
  }

  /** Shows whether these photos are favourites. */
  showMarks(ids) {
    for (const id of ids) this.#showMarks(this.#tiles.get(id));
  }

  #showMarks({ item, picture, check, image }) {
    item.dataset.favorite = Boolean(image.isFavorite);
    picture.alt = alternativeText(image);
    check.setAttribute('aria-label', `Select ${picture.alt}`);
  }

  /** Shows the checkbox if the photo can be selected. */
  #showCheckbox({ check, image }) {
    check.parentElement.hidden = !this.#isSelectable || Boolean(image.isDeleted);
  }

  /** Marks a photo that was deleted, whether it had loaded or not. */
  #markDeleted(tile) {
    const { button, picture, check } = tile;
    const hadFocus = document.activeElement === check;
    this.#showCheckbox(tile);
    if (hadFocus) button.focus();
    picture.removeAttribute('src');
    this.#markFailed(tile, 'No longer in the library');
  }

  #markFailed({ item, lost, image }, reason = 'Could not be loaded') {
    item.dataset.state = 'failed';
    lost.textContent = image.fileName ? `${image.fileName}: ${reason.toLowerCase()}` : reason;
    lost.hidden = false;
  }

  /** Selects a photo. With the shift key, selects the range from the last chosen photo to this one. */
  #choose(id, isSelected, isRange) {
    const ids = [...this.#tiles.keys()];
    const ends = [ids.indexOf(this.#last), ids.indexOf(id)].sort((a, b) => a - b);
    this.select(isRange && ends[0] >= 0 ? ids.slice(ends[0], ends[1] + 1) : [id], isSelected);
    this.#last = id;
  }

  /** Moves the tab stop to a photo. */
  #enter(item) {
    if (!item || item.dataset.isEntered) return;
    for (const tile of this.#tiles.values()) {
      const isEntered = tile.item === item;
      tile.button.tabIndex = tile.check.tabIndex = isEntered ? 0 : -1;
      if (isEntered) tile.item.dataset.isEntered = 'true';
      else delete tile.item.dataset.isEntered;
    }
  }

  #move(event) {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const items = [...this.#list.children];
    const here = event.target.closest('li');
    const place = items.indexOf(here);
    const target = {
      ArrowLeft: () => items[place - 1],
      ArrowRight: () => items[place + 1],
      ArrowUp: () => beside(items.slice(0, place).reverse(), here),
      ArrowDown: () => beside(items.slice(place + 1), here),
      Home: () => items[0],
      End: () => items.at(-1),
    }[event.key]?.();
    if (!target) return;
    event.preventDefault();
    // Arrow keys lead from photo to photo, and from checkbox to checkbox.
    const kind = event.target.localName;
    const control = target.querySelector(kind);
    (control.checkVisibility() ? control : target.querySelector('button')).focus();
  }
}

const isLoaded = (picture) => picture.complete && picture.naturalWidth > 0;

/** The nearest item in the next row. `others` starts with the neighbour of `here`. */
function beside(others, here) {
  const { offsetTop } = here;
  const row = others.find((item) => item.offsetTop !== offsetTop)?.offsetTop;
  const middle = (item) => item.offsetLeft + item.offsetWidth / 2;
  const gap = (item) => Math.abs(middle(item) - middle(here));
  return others.filter((item) => item.offsetTop === row).sort((a, b) => gap(a) - gap(b))[0];
}
