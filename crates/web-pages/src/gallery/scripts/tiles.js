// The elements of photos, and the order in which their images load (timeline.js).

/** Images that load at the same time. */
const MAX_IMAGES = 12;
/** A photo without its image for this long shows a blurred picture. */
const BLUR_AFTER_MS = 100;
/** Between the sizes 256 and 512: the geometric mean, as browsers choose. */
const SMALL_IMAGE_PX = 362;

/** Loads images: those in sight first, none while the page is scrolled fast. */
class ImageQueue {
  #waiting = [];
  #loading = new Set();
  isPaused = false;

  /** Sets the tiles whose images are wanted, most urgent first. Others are dropped from the queue. */
  want(tiles) {
    this.#waiting = tiles.filter((tile) => tile.source && !this.#loading.has(tile));
    this.next();
  }

  next() {
    while (!this.isPaused && this.#loading.size < MAX_IMAGES && this.#waiting.length) {
      const tile = this.#waiting.shift();
      if (!tile.source) continue;
      this.#loading.add(tile);
      tile.start();
    }
  }

  /** A tile has its image, or is gone. */
  done(tile) {
    if (this.#loading.delete(tile)) this.next();
  }
}

const images = new ImageQueue();

/** A photo in the grid. */
class Tile {
  /** Makes the elements, or takes over those of the server. */
  constructor(photo, item) {
    this.photo = photo;
    this.item = item ?? this.#make();
    this.link = this.item.querySelector('a');
    this.image = this.item.querySelector('img');
    this.check = this.item.querySelector('input');
    this.item.tile = this;
    this.link.tabIndex = this.check.tabIndex = -1;
    this.link.draggable = false;
    if (item) {
      // The browser loads it already.
      if (!this.image.complete) this.#watch();
      else this.item.classList.add('loaded');
    }
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

  /** Moves it to its cell, and says which size of the image fits. */
  place(left, top, width, height) {
    const { photo } = this;
    placeCell(this.item, left, top, width, height);
    if (this.image.getAttribute('src') || this.source) return;
    const side = Math.max(width, height);
    this.source = `/p/${photo.id}/${photo.v}/${side * devicePixelRatio > SMALL_IMAGE_PX ? 512 : 256}.webp`;
    if (photo.h) {
      this.link.style.backgroundColor = meanColour(photo.h);
      this.timer = setTimeout(() => this.#blur(), BLUR_AFTER_MS);
    }
  }

  #blur() {
    if (images.isPaused) this.timer = setTimeout(() => this.#blur(), BLUR_AFTER_MS);
    else this.link.style.backgroundImage = `url(${hashPicture(this.photo.h, this.photo.r)})`;
  }

  start() {
    this.#watch();
    this.image.src = this.source;
    this.source = undefined;
  }

  #watch() {
    const end = (isLoaded) => {
      clearTimeout(this.timer);
      this.item.classList.toggle('loaded', isLoaded);
      this.item.classList.toggle('lost', !isLoaded);
      images.done(this);
    };
    this.image.addEventListener('load', () => end(true), { once: true });
    this.image.addEventListener('error', () => end(false), { once: true });
  }

  /** Removes it and cancels its request. */
  remove() {
    clearTimeout(this.timer);
    this.item.remove();
    this.source = undefined;
    if (!this.image.complete) this.image.removeAttribute('src');
    images.done(this);
  }
}
