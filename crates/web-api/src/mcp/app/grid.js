// The photos in rows. One of them is in the tab order; arrow keys go to the others. Each may be selected.

/** Wider and narrower pictures are cut in the grid, so that rows stay even. */
const WIDEST = 2.4;
const NARROWEST = 0.6;
/** So few are shown large. */
const FEW = 3;

class Grid {
  #list;
  #template;
  #tiles = new Map();
  #selected = new Set();
  #last;
  #actions;
  #isSelectable = false;

  /** `actions`: `open` a picture, `changed` when other pictures are selected, `helps` a picture as a renewal does. */
  constructor(list, template, actions) {
    this.#list = list;
    this.#template = template;
    this.#actions = actions;
    list.addEventListener('keydown', (event) => this.#move(event));
    list.addEventListener('focusin', ({ target }) => this.#enter(target.closest('li')));
  }

  /** The selected pictures' ids, in the order of the pictures. */
  get selected() {
    return [...this.#tiles.keys()].filter((id) => this.#selected.has(id));
  }

  get #isFew() {
    return this.#tiles.size <= FEW;
  }

  set isSelectable(is) {
    this.#isSelectable = is;
    for (const tile of this.#tiles.values()) this.#offer(tile);
  }

  clear() {
    this.#tiles.clear();
    this.#selected.clear();
    this.#last = undefined;
    this.#list.replaceChildren();
    this.#list.hidden = true;
  }

  /** Puts pictures behind the others; without addresses, these come later, by `refresh`. */
  append(images, hasAddresses) {
    const isFirst = this.#tiles.size === 0;
    for (const image of images) this.#tiles.set(image.id, this.#tile(image));
    this.#list.dataset.count = this.#isFew ? this.#tiles.size : 'many';
    if (hasAddresses) this.refresh(images.map(({ id }) => id));
    this.#list.append(...images.map(({ id }) => this.#tiles.get(id).item));
    this.#list.hidden = this.#tiles.size === 0;
    if (isFirst && images.length) this.#enter(this.#list.firstElementChild);
  }

  /** Gives their addresses to those of these pictures that have not come; those that have stay as they are. */
  refresh(ids) {
    const tiles = ids.map((id) => this.#tiles.get(id)).filter(Boolean);
    const gone = tiles.filter(({ image }) => image.isGone);
    for (const tile of gone) this.#bury(tile);
    const unselected = gone.map(({ image }) => image.id).filter((id) => this.#selected.has(id));
    if (unselected.length) this.select(unselected, false);
    for (const tile of tiles) {
      const { image, picture } = tile;
      const source = this.#isFew ? image.medium : image.thumb;
      if (image.isGone || isThere(picture)) continue;
      if (!source) {
        this.#lose(tile);
      } else if (picture.src !== source) {
        tile.item.dataset.state = 'coming';
        tile.lost.hidden = true;
        picture.src = source;
      } else if (picture.complete) {
        this.#lose(tile);
      }
    }
  }

  /** Pictures that wait for new addresses do not come any more. */
  loseRest() {
    for (const tile of this.#tiles.values()) {
      if (tile.item.dataset.state === 'coming' && tile.picture.complete) this.#lose(tile);
    }
  }

  /** Ids in the order in which addresses are needed: of pictures that have not come first, then of those near the view. */
  byNeed(ids) {
    const needs = ids.map((id) => {
      const { item, picture } = this.#tiles.get(id);
      const { top, bottom } = item.getBoundingClientRect();
      return { id, isThere: isThere(picture), away: Math.max(top - window.innerHeight, -bottom, 0) };
    });
    return needs.sort((a, b) => a.isThere - b.isThere || a.away - b.away).map(({ id }) => id);
  }

  select(ids, is) {
    for (const id of ids) {
      const tile = this.#tiles.get(id);
      if (!tile || (is && tile.image.isGone)) continue;
      if (is) this.#selected.add(id);
      else this.#selected.delete(id);
      tile.check.checked = is;
      tile.item.dataset.selected = is;
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
    const ratio = Math.min(Math.max(image.width / image.height, NARROWEST), WIDEST);
    item.style.setProperty('--ratio', ratio.toFixed(4));
    item.dataset.state = 'coming';
    item.dataset.id = image.id;
    picture.alt = alternative(image);
    day.textContent = dayOf(image);
    place.textContent = image.place ?? image.description ?? '';
    check.setAttribute('aria-label', `Select ${picture.alt}`);
    for (const control of [button, check]) control.tabIndex = -1;
    const tile = { item, button, picture, check, lost, image };
    this.#offer(tile);
    picture.addEventListener('load', () => {
      item.dataset.state = 'there';
      lost.hidden = true;
    });
    picture.addEventListener('error', () => this.#actions.helps(image) || this.#lose(tile));
    button.addEventListener('click', () => this.#actions.open(image.id));
    check.addEventListener('click', ({ shiftKey }) => this.#choose(image.id, check.checked, shiftKey));
    return tile;
  }

  /** Shows the box where the picture may be selected. */
  #offer({ check, image }) {
    check.parentElement.hidden = !this.#isSelectable || Boolean(image.isGone);
  }

  /** The picture has been deleted, whether it had come or not. */
  #bury(tile) {
    const { button, picture, check } = tile;
    const hadFocus = document.activeElement === check;
    this.#offer(tile);
    if (hadFocus) button.focus();
    picture.removeAttribute('src');
    this.#lose(tile, 'No longer in the library');
  }

  #lose({ item, lost, image }, why = 'Could not be loaded') {
    item.dataset.state = 'lost';
    lost.textContent = image.fileName ? `${image.fileName}: ${why.toLowerCase()}` : why;
    lost.hidden = false;
  }

  /** With the shift key, everything from the last one that was chosen to this one. */
  #choose(id, is, isRange) {
    const ids = [...this.#tiles.keys()];
    const ends = [ids.indexOf(this.#last), ids.indexOf(id)].sort((a, b) => a - b);
    this.select(isRange && ends[0] >= 0 ? ids.slice(ends[0], ends[1] + 1) : [id], is);
    this.#last = id;
  }

  /** Takes a picture into the tab order, and the others out of it. */
  #enter(item) {
    if (!item || item.dataset.isEntered) return;
    for (const tile of this.#tiles.values()) {
      const is = tile.item === item;
      tile.button.tabIndex = tile.check.tabIndex = is ? 0 : -1;
      if (is) tile.item.dataset.isEntered = 'true';
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
    // From picture to picture, from box to box.
    const kind = event.target.localName;
    const control = target.querySelector(kind);
    (control.checkVisibility() ? control : target.querySelector('button')).focus();
  }
}

const isThere = (picture) => picture.complete && picture.naturalWidth > 0;

/** The item of the next row that is nearest to this one; `others` begin with its neighbour. */
function beside(others, here) {
  const { offsetTop } = here;
  const row = others.find((item) => item.offsetTop !== offsetTop)?.offsetTop;
  const middle = (item) => item.offsetLeft + item.offsetWidth / 2;
  const away = (item) => Math.abs(middle(item) - middle(here));
  return others.filter((item) => item.offsetTop === row).sort((a, b) => away(a) - away(b))[0];
}
