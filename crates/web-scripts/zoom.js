// Zoom and pan of one image by wheel, pinch, double click, keys and drag, and swipes to its neighbours. The photo page and the photo
// app use it.

const MAX_ZOOM = 8;
const DOUBLE_ZOOM = 2.5;
const KEY_ZOOM = 1.5;
/** How far an arrow key moves a zoomed image. */
const KEY_PAN_PX = 80;
/** A pinch that ends with a smaller scale shows the whole image, so that the next drag is a swipe. */
const MIN_ZOOM = 1.05;
/** Minimum length of a swipe. */
const MIN_SWIPE_PX = 48;

class Zoom {
  #stage;
  #image;
  #gestures;
  #scale = 1;
  #x = 0;
  #y = 0;

  /**
   * `swiped(1)` requests the next image, `swiped(-1)` the previous one. `zoomed(scale)` is called after each change. `dragged` and
   * `released` replace `swiped`: they get the length of each drag of the whole image, and `released` gets none if a pinch ended it.
   * `takesWheel` means that the wheel zooms also without Ctrl.
   */
  constructor(stage, image, { swiped, zoomed = () => {}, dragged, released, takesWheel = false }) {
    Object.assign(this, { zoomed });
    this.#stage = stage;
    this.#image = image;
    stage.addEventListener('dblclick', (event) => event.target.closest('button') || this.toggle(event));
    this.#gestures = new Gestures(stage, {
      accepts: ({ type, target, ctrlKey, pointerType }) =>
        !target.closest('button') && (this.isZoomed || (type === 'wheel' ? ctrlKey || takesWheel : pointerType !== 'mouse')),
      moved: ({ right, down, across, along, scale, x, y }) => {
        if (this.isZoomed || scale !== 1) {
          released?.();
          this.#set(this.#scale, this.#x + right, this.#y + down);
          this.#to(this.#scale * scale, x, y);
        } else if (dragged) dragged(across, along);
        else if (Math.abs(across) > Math.abs(along)) this.#draw(across);
      },
      ended: (across, along) => {
        if (this.#scale < MIN_ZOOM && this.isZoomed) this.reset();
        if (this.isZoomed) return;
        if (released) {
          released(across, along);
          return;
        }
        this.#draw();
        if (Math.abs(across) > Math.max(MIN_SWIPE_PX, Math.abs(along))) swiped(across < 0 ? 1 : -1);
      },
    });
  }

  get isZoomed() {
    return this.#scale > 1;
  }

  /** Shows the whole image. `image` replaces the present one. */
  reset(image = this.#image) {
    this.#image = image;
    this.#set(1);
  }

  /** Zooms in on a point, or out again. */
  toggle(event) {
    if (this.isZoomed) return this.reset();
    const { x, y } = event ? this.#gestures.point(event) : {};
    return this.#to(DOUBLE_ZOOM, x, y);
  }

  /** Handles a key. Returns whether it has an effect: z, + and - always have one, arrows and Escape only on a zoomed image. */
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

  /** Zooms around a point, given relative to the middle of the stage. The image below the point stays where it is. */
  #to(wanted, x = 0, y = 0) {
    const scale = clamp(wanted, 1, MAX_ZOOM);
    const factor = scale / this.#scale;
    this.#set(scale, x - (x - this.#x) * factor, y - (y - this.#y) * factor);
  }

  #set(scale, x = 0, y = 0) {
    const { clientWidth: width, clientHeight: height } = this.#stage;
    // Before the image has loaded, it has the size of the stage.
    const [naturalWidth, naturalHeight] = [this.#image.naturalWidth || width, this.#image.naturalHeight || height];
    const fit = Math.min(width / naturalWidth, height / naturalHeight) * scale;
    // A zoomed image cannot leave the stage.
    const limit = (value, side, room) => {
      const most = Math.max(0, (side * fit - room) / 2);
      return clamp(value, -most, most);
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
}
