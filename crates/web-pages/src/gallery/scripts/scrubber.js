// The slider beside the timeline. Each month with photos takes the same length, so that every month can be reached, however few
// photos it has. The vertical `input type=range` can be used by keyboard and by screen readers.

/** Steps of the slider per month. */
const MONTH_STEPS = 100;
const MARK_PX = 22;
/** From each distance to the left of the slider, a drag moves the slider more slowly, by this factor. */
const FINE = [
  [200, 0.08],
  [90, 0.3],
];

class Scrubber {
  #drag;
  /** Length of the slider; reading it from the document in each frame would force a layout. */
  #length = 0;

  constructor(scroller) {
    this.scroller = scroller;
    this.input = make('input', { type: 'range', min: 0, step: 1, value: 0, ariaLabel: 'Date' });
    this.label = make('output', { ariaHidden: 'true' });
    this.marks = make('div', { className: 'marks', ariaHidden: 'true' });
    this.element = make('div', { className: 'scrubber' }, this.marks, this.input, this.label);
    const listen = (names, body) => names.split(' ').forEach((name) => this.input.addEventListener(name, body, { passive: false }));
    listen('input', () => this.#show(this.input.value));
    listen('keydown', (event) => this.#key(event));
    listen('pointerdown', (event) => this.#start(event));
    listen('pointermove', (event) => this.#move(event));
    listen('pointerup pointercancel', () => this.#end());
    this.input.addEventListener('pointerenter', (event) => event.pointerType === 'mouse' && this.#preview(event));
    // The drag is handled here, not by the browser, so that it can be finer.
    listen('touchstart mousedown', (event) => event.preventDefault());
    document.querySelector('main').append(this.element);
    new ResizeObserver(() => this.#drawMarks()).observe(this.element);
  }

  get #months() {
    return this.scroller.library.months;
  }

  /** Updates the slider to the months of the library. */
  update() {
    this.input.max = Math.max(1, this.#months.length * MONTH_STEPS);
    this.element.hidden = this.#months.length < 2;
    this.#drawMarks();
    this.follow();
  }

  #drawMarks() {
    const months = this.#months;
    const height = (this.#length = this.marks.clientHeight);
    const marks = [];
    let last = -MARK_PX;
    months.forEach(({ year }, place) => {
      if (year === months[place - 1]?.year) return;
      const top = (place / months.length) * height;
      if (top - last < MARK_PX) return;
      const mark = make('span', {}, year);
      mark.style.top = `${top}px`;
      marks.push(mark);
      last = top;
    });
    this.marks.replaceChildren(...marks);
  }

  /** Moves the slider to the position of the timeline. */
  follow() {
    if (this.#drag || !this.#months.length) return;
    const { shownY: y, height, screen } = this.scroller;
    // Browsers round scroll positions, so after a jump to a month the position may be in the month before it.
    const month = this.scroller.monthAt(Math.max(0, y + 1));
    const inside = clamp((y - month.top) / month.height, 0, 1);
    const isEnd = y + screen >= height - 1;
    const value = isEnd ? Number(this.input.max) : (this.#months.indexOf(month) + inside) * MONTH_STEPS;
    const old = this.input.value;
    this.input.value = y <= 0 ? 0 : value;
    this.#name(isEnd ? this.#months.at(-1) : month);
    if (this.input.value === old) return;
    this.element.classList.add('moving');
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.element.classList.remove('moving'), 1_200);
  }

  #name(month) {
    if (this.input.ariaValueText !== month.name) this.input.ariaValueText = this.label.textContent = month.name;
    this.label.style.top = `${this.#thumb}px`;
  }

  /** Distance of the thumb from the top of the slider. */
  get #thumb() {
    return (this.input.value / this.input.max) * this.#length;
  }

  /** Sets the slider to a value, and scrolls the timeline to the place. */
  #show(wanted) {
    this.input.value = wanted;
    const value = Number(this.input.value);
    const { month, position } = this.#placeOf(value);
    if (!month) return;
    this.scroller.jump(value >= Number(this.input.max) ? this.scroller.height : position);
    this.#name(month);
  }

  /** The month of a value of the slider, and the position in the timeline. */
  #placeOf(value) {
    const place = Math.min(this.#months.length - 1, Math.floor(value / MONTH_STEPS));
    const month = this.#months[place];
    return { month, position: month && month.top + (value / MONTH_STEPS - place) * month.height };
  }

  /** Begins to show photos of the place under the mouse. */
  #preview(entered) {
    this.preview ??= import('./actions.js').then(({ startPreview }) => startPreview(this.input, (y) => {
      const inside = clamp((y - this.marks.getBoundingClientRect().top) / this.#length, 0, 1);
      const { month, position } = this.#placeOf(inside * this.input.max);
      return month && { name: month.name, time: this.scroller.timeAt(position) };
    }, entered), () => (this.preview = undefined));
  }

  #key(event) {
    const step = { ArrowUp: -1, ArrowLeft: -1, ArrowDown: 1, ArrowRight: 1, PageUp: -12, PageDown: 12 }[event.key];
    if (!step || event.altKey || hasModifier(event)) return;
    event.preventDefault();
    const month = Math.floor(this.input.value / MONTH_STEPS);
    this.#show(Math.max(0, month + step) * MONTH_STEPS);
  }

  #start(event) {
    if (event.button) return;
    this.input.focus({ preventScroll: true });
    this.input.setPointerCapture(event.pointerId);
    const inside = event.clientY - this.marks.getBoundingClientRect().top;
    this.#drag = { from: event.clientY };
    if (Math.abs(inside - this.#thumb) > MARK_PX) this.#show((inside / this.#length) * this.input.max);
    this.#drag.value = Number(this.input.value);
    this.element.classList.add('dragged');
  }

  #move(event) {
    if (!this.#drag) return;
    const left = this.element.getBoundingClientRect().left - event.clientX;
    const factor = FINE.find(([distance]) => left > distance)?.[1] ?? 1;
    const moved = ((event.clientY - this.#drag.from) / this.#length) * this.input.max * factor;
    this.#drag.from = event.clientY;
    this.#drag.value = clamp(this.#drag.value + moved, 0, this.input.max);
    this.#show(this.#drag.value);
  }

  #end() {
    this.#drag = undefined;
    this.element.classList.remove('dragged');
  }
}
