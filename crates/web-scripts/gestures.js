// Drags, pinches and the wheel on one element, for any number of fingers. They move zoomed photos and the map.

/** A shorter movement is a click. */
const MIN_DRAG_PX = 5;

const clamp = (value, low, high) => Math.min(high, Math.max(low, value));

class Gestures {
  #stage;
  #pointers = new Map();
  #start;
  #last;
  /** Whether the present or last gesture is more than a click. */
  hasMoved = false;

  /**
   * `accepts(event)` returns whether an event of a pointer or the wheel belongs to a gesture. `moved` gets the movement in pixels
   * since its last call (`right`, `down`) and since the start (`across`, `along`), the factor `scale`, and the point around which
   * the scale changes, relative to the middle of the stage (`x`, `y`). `ended(across, along)` is called when the last finger is
   * lifted; after a pinch, without arguments.
   */
  constructor(stage, { accepts = () => true, moved, ended }) {
    this.#stage = stage;
    const pointers = this.#pointers;
    let isPinch;
    stage.addEventListener('dragstart', (event) => event.preventDefault());
    stage.addEventListener(
      'wheel',
      (event) => {
        if (!accepts(event)) return;
        event.preventDefault();
        const pixels = event.deltaY * (event.deltaMode ? 24 : 1);
        // Browsers report a pinch on a touchpad as the wheel with Ctrl.
        moved({ ...this.point(event), right: 0, down: 0, scale: 2 ** clamp(-pixels / (event.ctrlKey ? 90 : 300), -1, 1) });
      },
      { passive: false },
    );
    stage.addEventListener('pointerdown', (event) => {
      if (event.button || !accepts(event)) return;
      if (!pointers.size) {
        this.hasMoved = isPinch = false;
        this.#start = this.point(event);
      } else isPinch = true;
      pointers.set(event.pointerId, this.point(event));
      this.#last = this.#middle;
    });
    stage.addEventListener('pointermove', (event) => {
      const { pointerId } = event;
      if (!pointers.has(pointerId)) return;
      const [at, start, last] = [this.point(event), this.#start, this.#last];
      if (!this.hasMoved && Math.hypot(at.x - start.x, at.y - start.y) < MIN_DRAG_PX) return;
      // The pointer is captured only after it has moved, because a captured pointer cannot click a link.
      stage.setPointerCapture(pointerId);
      this.hasMoved = true;
      pointers.set(pointerId, at);
      const { x, y, spread } = (this.#last = this.#middle);
      moved({ x, y, right: x - last.x, down: y - last.y, across: x - start.x, along: y - start.y, scale: spread / last.spread || 1 });
    });
    // A pointer that was not captured may be released outside of the stage.
    for (const name of ['pointerup', 'pointercancel', 'pointerleave']) {
      stage.addEventListener(name, (event) => {
        if (!pointers.delete(event.pointerId)) return;
        if (pointers.size) this.#last = this.#middle;
        else if (isPinch || name !== 'pointerup') ended();
        else ended(this.point(event).x - this.#start.x, this.point(event).y - this.#start.y);
      });
    }
  }

  get isActive() {
    return this.#pointers.size > 0;
  }

  /** The position of an event relative to the middle of the stage. */
  point({ clientX, clientY }) {
    const { left, top, width, height } = this.#stage.getBoundingClientRect();
    return { x: clientX - left - width / 2, y: clientY - top - height / 2 };
  }

  /** The middle of the first two fingers, and their distance. */
  get #middle() {
    const [one, other = one] = this.#pointers.values();
    return { x: (one.x + other.x) / 2, y: (one.y + other.y) / 2, spread: Math.hypot(one.x - other.x, one.y - other.y) };
  }
}
