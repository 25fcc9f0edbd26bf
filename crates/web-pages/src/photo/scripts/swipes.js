// A picture that follows a finger: aside to a neighbour, which is visible beside it, down to close it, up for its details.

/** The gap between two pictures. */
const BESIDE_PX = 24;
/** Minimum length of a drag down or up. */
const MIN_CLOSE_PX = 96;
const LEAVE_MS = 500;
/** A faster drag counts although it is shorter. */
const FLICK_PX_PER_MS = 0.5;
/** The share of a drag that a picture follows if there is nothing in this direction. */
const RESISTANCE = 0.25;
const SLIDE_MS = 220;

const isStill = matchMedia('(prefers-reduced-motion: reduce)');

class Swipes {
  #viewer;
  #beside = {};
  #axis;
  #last;
  #speed = 0;
  #running = [];

  /** `hasNeighbour(step)`, `moved(step)` after a swipe to a neighbour, `closed()` after one down, `raised()` after one up. */
  constructor(viewer, actions) {
    Object.assign(this, actions);
    this.#viewer = viewer;
  }

  get #image() {
    return this.#viewer.querySelector('#photo');
  }

  /** Sets the picture of the next (1) or previous (-1) photo, or none. */
  setBeside(step, image) {
    this.#beside[step]?.remove();
    this.#beside[step] = image;
    if (!image) return;
    image.removeAttribute('id');
    image.className = 'beside';
    image.hidden = true;
    this.#viewer.append(image);
  }

  /** Moves the picture by a drag of this length. */
  drag(across, along) {
    for (const animation of this.#running) animation.finish();
    this.#axis ??= Math.abs(across) > Math.abs(along) ? 'across' : 'along';
    this.#viewer.dataset.dragged = true;
    const now = performance.now();
    const length = this.#axis === 'across' ? across : along;
    if (this.#last) this.#speed = (length - this.#last.length) / Math.max(1, now - this.#last.now);
    this.#last = { length, now };
    if (this.#axis === 'across') {
      this.#slide(this.hasNeighbour(across < 0 ? 1 : -1) ? across : across * RESISTANCE);
      return;
    }
    const down = Math.max(along, along * RESISTANCE);
    const scale = 1 - clamp(down / this.#viewer.clientHeight, 0, 0.5);
    this.#image.style.transform = `translate(${down > 0 ? across : 0}px, ${down}px) scale(${scale})`;
  }

  /** Ends a drag. Without arguments, it was none. */
  async release(across, along) {
    const [axis, speed] = [this.#axis, this.#speed];
    this.#axis = this.#last = undefined;
    this.#speed = 0;
    if (!axis) return;
    const isFar = (length, min) => Math.abs(length) > min || (speed * length > 0 && Math.abs(speed) > FLICK_PX_PER_MS);
    const step = across < 0 ? 1 : -1;
    if (across === undefined) this.rest();
    else if (axis === 'across') {
      const isSwipe = isFar(across, MIN_SWIPE_PX) && this.hasNeighbour(step);
      await this.#glide(isSwipe ? -step * this.#width : 0);
      if (isSwipe) await this.moved(step);
      this.rest();
    } else if (along > 0 && isFar(along, MIN_CLOSE_PX)) {
      this.closed();
      // If the page stays, because the person has answered so, the picture returns.
      setTimeout(() => this.rest(), LEAVE_MS);
    } else {
      if (isFar(along, MIN_CLOSE_PX) && along < 0) this.raised();
      await this.#animate(this.#image, '');
      this.rest();
    }
  }

  get #width() {
    return this.#viewer.clientWidth + BESIDE_PX;
  }

  /** The pictures, each with its distance from the present one. */
  get #pictures() {
    const beside = [1, -1].filter((step) => this.#beside[step]).map((step) => [this.#beside[step], step * this.#width]);
    return [[this.#image, 0], ...beside];
  }

  /** Shows all pictures, moved aside. */
  #slide(right) {
    for (const [image, distance] of this.#pictures) {
      image.hidden = false;
      image.style.transform = `translateX(${distance + right}px)`;
    }
  }

  /** Moves all pictures to a place. */
  #glide(right) {
    return Promise.all(this.#pictures.map(([image, distance]) => this.#animate(image, `translateX(${distance + right}px)`)));
  }

  async #animate(image, transform) {
    const from = image.style.transform || 'none';
    image.style.transform = transform;
    if (isStill.matches || document.hidden) return;
    const animation = image.animate([{ transform: from }, { transform: transform || 'none' }], { duration: SLIDE_MS, easing: 'ease-out' });
    this.#running.push(animation);
    await animation.finished.catch(() => {});
    this.#running = this.#running.filter((other) => other !== animation);
  }

  /** Shows the present picture only, in its place, unless a finger moves it. */
  rest() {
    if (this.#axis) return;
    this.#viewer.dataset.dragged = false;
    for (const [image, distance] of this.#pictures) {
      image.hidden = distance !== 0;
      image.style.transform = '';
    }
  }
}
