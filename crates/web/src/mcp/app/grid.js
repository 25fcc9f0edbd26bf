// The pictures in rows. One of them is in the tab order; arrow keys go to the others. Each may be selected.

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

  /** `actions`: `open` a picture, `changed` when other pictures are selected, `helps` as of a renewal. */
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
    for (const { check } of this.#tiles.values()) check.parentElement.hidden = !is;
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
    if (hasAddresses) this.refresh();
    this.#list.append(...images.map(({ id }) => this.#tiles.get(id).item));
    this.#list.hidden = this.#tiles.size === 0;
    if (isFirst && images.length) this.#enter(this.#list.firstElementChild);
  }

  /** Gives their addresses to pictures that have not come; those that have stay as they are. */
  refresh() {
    for (const tile of this.#tiles.values()) {
      const { image, picture } = tile;
      const source = this.#isFew ? image.medium : image.thumb;
      const isThere = picture.complete && picture.naturalWidth > 0;
      if (isThere) continue;
      if (image.isGone || !source) {
        this.#lose(tile, image.isGone ? 'No longer in the library' : undefined);
      } else if (picture.src !== source) {
        tile.item.dataset.state = 'coming';
        tile.lost.hidden = true;
        picture.src = source;
      } else if (picture.complete) {
        this.#lose(tile);
      }
    }
  }

  /** Pictures that have not come do not come any more. */
  loseRest() {
    for (const tile of this.#tiles.values()) if (tile.item.dataset.state === 'coming') this.#lose(tile);
  }

  select(ids, is) {
    for (const id of ids) {
      const tile = this.#tiles.get(id);
      if (!tile) continue;
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
    check.parentElement.hidden = !this.#isSelectable;
    for (const control of [button, check]) control.tabIndex = -1;
    const tile = { item, button, picture, check, lost, image };
    picture.addEventListener('load', () => (item.dataset.state = 'there'));
    picture.addEventListener('error', () => this.#actions.helps() || this.#lose(tile));
    button.addEventListener('click', () => this.#actions.open(image.id));
    check.addEventListener('click', ({ shiftKey }) => this.#choose(image.id, check.checked, shiftKey));
    return tile;
  }

  #lose({ item, lost, image }, why = 'Cannot be shown') {
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
    target.querySelector(kind).focus();
  }
}

/** The item of the next row that is nearest to this one; `others` begin with its neighbour. */
function beside(others, here) {
  const { offsetTop } = here;
  const row = others.find((item) => item.offsetTop !== offsetTop)?.offsetTop;
  const middle = (item) => item.offsetLeft + item.offsetWidth / 2;
  const away = (item) => Math.abs(middle(item) - middle(here));
  return others.filter((item) => item.offsetTop === row).sort((a, b) => away(a) - away(b))[0];
}
