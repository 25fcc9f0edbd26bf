// Zoom and pan of one image by wheel, pinch, double click, keys and drag, and swipes to its neighbours. The photo page and the photo
// app use it.

const MAX_ZOOM = 8;
const DOUBLE_ZOOM = 2.5;
const KEY_ZOOM = 1.5;
/** How far an arrow key moves a zoomed image. */
const KEY_PAN_PX = 80;
/** Minimum length of a swipe. */
const MIN_SWIPE_PX = 48;

class Zoom {
  #stage;
  #image;
  #scale = 1;
  #x = 0;
  #y = 0;
  #pointers = new Map();
  #start;

  /** `swiped(1)` asks for the next image and `swiped(-1)` for the previous one; `zoomed(scale)` is called after a change. */
  constructor(stage, image, { swiped, zoomed = () => {} }) {
    Object.assign(this, { swiped, zoomed });
    this.#stage = stage;
    this.#image = image;
    const onStage = (name, body, options) =>
      stage.addEventListener(name, (event) => event.target.closest('button') || body(event), options);
    onStage('wheel', (event) => this.#wheel(event), { passive: false });
    onStage('dblclick', (event) => this.toggle(event));
    onStage('dragstart', (event) => event.preventDefault());
    onStage('pointerdown', (event) => this.#down(event));
    onStage('pointermove', (event) => this.#move(event));
    for (const name of ['pointerup', 'pointercancel']) stage.addEventListener(name, (event) => this.#up(event));
  }

  get isZoomed() {
    return this.#scale > 1;
  }

  /** Shows the whole image, which may be another one now. */
  reset(image = this.#image) {
    this.#image = image;
    this.#set(1);
  }

  /** Zooms in on a point, or out again. */
  toggle({ clientX, clientY } = {}) {
    if (this.isZoomed) this.reset();
    else this.#to(DOUBLE_ZOOM, clientX, clientY);
  }

  /** Handles a key. Returns whether it has an effect: letters, + and - always, arrows and Escape on a zoomed image. */
  key(key) {
    const pan = (x, y) => this.isZoomed && (() => this.#set(this.#scale, this.#x + x * KEY_PAN_PX, this.#y + y * KEY_PAN_PX));
    const zoom = (factor) => () => this.#to(this.#scale * factor);
    const action = {
      z: () => this.toggle(),
      '+': zoom(KEY_ZOOM),
      '=': zoom(KEY_ZOOM),
      '-': zoom(1 / KEY_ZOOM),
      Escape: this.isZoomed && (() => this.reset()),
      ArrowLeft: pan(1, 0),
      ArrowRight: pan(-1, 0),
      ArrowUp: pan(0, 1),
      ArrowDown: pan(0, -1),
    }[key];
    if (action) action();
    return Boolean(action);
  }

  /** Zooms so that the point of the image at these coordinates stays there; by default the middle. */
  #to(wanted, clientX, clientY) {
    const box = this.#stage.getBoundingClientRect();
    const [x, y] = clientX === undefined ? [0, 0] : [clientX - box.left - box.width / 2, clientY - box.top - box.height / 2];
    const scale = Math.min(MAX_ZOOM, Math.max(1, wanted));
    const factor = scale / this.#scale;
    this.#set(scale, x - (x - this.#x) * factor, y - (y - this.#y) * factor);
  }

  #set(scale, x = 0, y = 0) {
    const { clientWidth: width, clientHeight: height } = this.#stage;
    const { naturalWidth, naturalHeight } = this.#image;
    const fit = Math.min(width / naturalWidth, height / naturalHeight) * scale;
    // A zoomed image cannot leave the stage.
    const limit = (value, side, room) => {
      const most = Math.max(0, (side * fit - room) / 2);
      return Math.min(most, Math.max(-most, value));
    };
    this.#scale = scale;
    [this.#x, this.#y] = scale > 1 ? [limit(x, naturalWidth, width), limit(y, naturalHeight, height)] : [0, 0];
    this.#draw();
    this.#stage.dataset.zoomed = scale > 1;
    this.#stage.style.touchAction = scale > 1 ? 'none' : '';
    this.zoomed(scale);
  }

  #draw(x = this.#x) {
    this.#image.style.transform = this.#scale > 1 || x ? `translate(${x}px, ${this.#y}px) scale(${this.#scale})` : '';
  }

  #wheel(event) {
    // Without Ctrl, which a pinch on a touchpad sets, the wheel scrolls the page unless the image is zoomed.
    if (!event.ctrlKey && !this.isZoomed) return;
    event.preventDefault();
    this.#to(this.#scale * 2 ** (-event.deltaY / (event.ctrlKey ? 100 : 300)), event.clientX, event.clientY);
  }

  /** The middle of the fingers, and their distance. */
  get #fingers() {
    const [one, other = one] = this.#pointers.values();
    const spread = Math.hypot(one.clientX - other.clientX, one.clientY - other.clientY);
    return { clientX: (one.clientX + other.clientX) / 2, clientY: (one.clientY + other.clientY) / 2, spread };
  }

  #down(event) {
    if (event.pointerType === 'mouse' && (event.button || !this.isZoomed)) return;
    const { pointerId, clientX, clientY } = event;
    this.#pointers.set(pointerId, { clientX, clientY });
    this.#begin();
  }

  #begin() {
    this.#start = { ...this.#fingers, scale: this.#scale, x: this.#x, y: this.#y, isPinch: this.#pointers.size > 1 };
  }

  #move({ pointerId, clientX, clientY }) {
    if (!this.#pointers.has(pointerId)) return;
    this.#pointers.set(pointerId, { clientX, clientY });
    const [start, now] = [this.#start, this.#fingers];
    const [across, down] = [now.clientX - start.clientX, now.clientY - start.clientY];
    if (start.isPinch && start.spread) {
      this.#set(start.scale, start.x + across, start.y + down);
      this.#to((start.scale * now.spread) / start.spread, now.clientX, now.clientY);
    } else if (this.isZoomed) this.#set(start.scale, start.x + across, start.y + down);
    else if (Math.abs(across) > Math.abs(down)) this.#draw(across);
    // A drag that leaves the stage continues.
    if (this.isZoomed && !this.#stage.hasPointerCapture(pointerId)) this.#stage.setPointerCapture(pointerId);
  }

  #up({ pointerId, type, clientX, clientY }) {
    if (!this.#pointers.delete(pointerId)) return;
    if (this.#pointers.size) return this.#begin();
    if (this.isZoomed) return undefined;
    this.#draw();
    const [across, down] = [clientX - this.#start.clientX, clientY - this.#start.clientY];
    const isSwipe = type === 'pointerup' && !this.#start.isPinch && Math.abs(across) > MIN_SWIPE_PX && Math.abs(across) > Math.abs(down);
    if (isSwipe) this.swiped(across < 0 ? 1 : -1);
    return undefined;
  }
}
