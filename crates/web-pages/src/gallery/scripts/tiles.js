// The elements of photos, and the order in which their images load in the timeline.

/** Images that load at the same time. */
const MAX_IMAGES = 12;
/** A photo shows a blurred picture if its image takes longer than this. */
const BLUR_AFTER_MS = 100;
/** The sizes of images, each with the longest side of the tiles that load it. Browsers also change at the geometric mean of two sizes. */
const IMAGES = [[256, 362], [512, 784], [1200, Infinity]];

/** Loads images. Images in sight come first, the others when those are complete. Fast scrolling pauses the queue. */
class ImageQueue {
  #waiting = [];
  loading = new Set();
  isPaused = false;
  /** Called when all images in sight are complete. */
  completed = () => {};

  /** Sets the tiles whose images are wanted: those in sight first, otherwise in this order. Drops all others from the queue. */
  want(tiles) {
    this.#waiting = tiles.filter(({ source }) => source).sort((a, b) => b.isVisible - a.isVisible);
    this.next();
  }

  /** Whether images in sight are not complete. */
  get isBusy() {
    return [...this.loading, ...this.#waiting].some(({ isVisible }) => isVisible);
  }

  next() {
    const { isBusy } = this;
    while (!this.isPaused && this.loading.size < MAX_IMAGES && this.#waiting.length) {
      if (isBusy && !this.#waiting[0].isVisible) return;
      const tile = this.#waiting.shift();
      if (tile.source) tile.start();
    }
  }

  /** Called when a tile has its image, or was removed. */
  done(tile) {
    if (!this.loading.delete(tile)) return;
    this.next();
    if (tile.isVisible && !this.isBusy) this.completed();
  }
}

const images = new ImageQueue();

/** The tile that an element is a part of. */
const tileAt = (element) => element?.closest('li')?.tile;

/** A photo in the grid. */
class Tile {
  /** Makes the elements, or takes over an `item` that the server rendered. */
  constructor(photo, item) {
    this.photo = photo;
    this.item = item ?? this.#make();
    this.link = this.item.querySelector('a');
    this.image = this.item.querySelector('img');
    this.check = this.item.querySelector('input');
    this.item.tile = this;
    this.setTabIndex(-1);
    this.link.draggable = false;
    if (!this.image.hasAttribute('src')) return;
    // The browser is already loading the image, or has loaded it.
    if (this.image.complete) this.item.classList.add('loaded');
    else this.#watch();
  }

  #make() {
    const { photo } = this;
    const text = photoText(photo);
    const image = make('img', { alt: text, decoding: 'async' });
    const check = make('input', { type: 'checkbox', name: 'image', value: photo.id, ariaLabel: `Select: ${text}` });
    const item = make('li', {}, make('a', { href: `/photos/${photo.id}` }, image), check);
    item.dataset.id = photo.id;
    return item;
  }

  setTabIndex(index) {
    if (this.link.tabIndex === index) return;
    for (const part of [this.link, this.check, this.day]) if (part) part.tabIndex = index;
  }

  /** Shows the check box over the text of the day that begins here. Its range ends between two photos, as that of a month does. */
  #showDay({ text, room }) {
    if (text !== this.text) {
      this.day?.remove();
      this.text = text;
      const from = dayOf(this.photo) * 864e5 - 0.375;
      this.day = text && make('input', {
        type: 'checkbox', name: 'range', className: 'of-day', value: `${from}:${from + 864e5 - 0.25}`,
        ariaLabel: `Select all of ${text.split(' · ')[0]}`, tabIndex: this.link.tabIndex,
      });
      if (text) this.item.append(this.day);
    }
    if (text) this.day.style.width = `${room}px`;
  }

  /** Moves the tile to a cell, and chooses the size of the image. */
  place(cell) {
    const { photo } = this;
    placeCell(this.item, cell);
    this.#showDay(cell);
    const side = Math.max(cell.width, cell.height) * devicePixelRatio;
    const [size] = IMAGES.find(([, most]) => side <= most);
    this.size ??= this.image.hasAttribute('src') ? this.#renderedSize(size) : 0;
    // A larger tile gets a larger image, which replaces the present one when it has loaded.
    if (size <= this.size) return;
    const isFirst = !this.size;
    this.size = size;
    this.source = `/p/${photo.id}/${photo.v}/${size}.webp`;
    if (isFirst && photo.h) {
      this.link.style.backgroundColor = meanColour(photo.h);
      this.timer = setTimeout(() => this.#blur(), BLUR_AFTER_MS);
    }
  }

  /** The size of the image in the page of the server, which is made for photos of the normal size. */
  #renderedSize(wanted) {
    const loaded = photoSize > 0 && /(\d+)\.webp/.exec(this.image.currentSrc);
    return loaded ? Number(loaded[1]) : wanted;
  }

  #blur() {
    if (images.isPaused) this.timer = setTimeout(() => this.#blur(), BLUR_AFTER_MS);
    else this.link.style.backgroundImage = `url(${hashPicture(this.photo.h, this.photo.r)})`;
  }

  start() {
    this.#watch();
    for (const name of ['srcset', 'sizes']) this.image.removeAttribute(name);
    this.image.src = this.source;
    this.source = undefined;
  }

  #watch() {
    images.loading.add(this);
    this.image.onload = this.image.onerror = ({ type }) => {
      clearTimeout(this.timer);
      this.item.classList.add(type === 'load' ? 'loaded' : 'lost');
      images.done(this);
    };
  }

  /** Removes the tile and cancels the request of its image. */
  remove() {
    clearTimeout(this.timer);
    this.item.remove();
    this.source = undefined;
    this.isVisible = false;
    if (!this.image.complete) this.image.removeAttribute('src');
    images.done(this);
  }
}
