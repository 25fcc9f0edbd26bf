// Mouse, touch and keyboard in the timeline.

const LONG_PRESS_MS = 400;
const MOVED_PX = 10;
/** Height of the strips at the top and bottom of the window in which a drag scrolls. */
const EDGE_PX = 72;
const TIMELINE_KEYS = [
  ['Arrows', 'Move to another photo'],
  ['Enter', 'Open the photo'],
  ['Space, x', 'Select the photo'],
  ['Shift and arrows', 'Select a range'],
  ['Ctrl A', 'Select all photos'],
  ['Home, End', 'Newest photos, oldest photos'],
  ['Escape', 'Clear the selection'],
  ['Delete', 'Delete the selected photos'],
  ['g', 'Go to a date'],
  ['m, Shift m', 'Older month, newer month'],
  ['+, -', 'Larger photos, smaller photos'],
];

class Keys {
  #press;
  #spread = 0;
  #hasPressed = false;

  /** `act(does)` calls `does` with the actions, `changed()` is called after the selection changed. */
  constructor(root, scroller, selection, act, changed) {
    Object.assign(this, { scroller, selection, act, changed, range: new Range(selection, changed) });
    pageKeys.unshift(...TIMELINE_KEYS);
    const listen = (names, body, options) => names.split(' ').forEach((name) => root.addEventListener(name, body, options));
    listen('click', (event) => this.#click(event));
    listen('pointerdown', (event) => this.#pressed(event));
    listen('pointermove', (event) => this.#moved(event));
    listen('pointerup pointercancel', () => this.#released());
    listen('contextmenu', (event) => this.#press && event.preventDefault());
    // Scrolling is off while a drag selects photos.
    listen('touchmove', (event) => (this.#press?.isDrag || event.touches.length > 1) && event.preventDefault(), { passive: false });
    listen('touchstart touchmove touchend touchcancel', (event) => this.#pinched(event), { passive: true });
    listen('focusin', ({ target }) => {
      const photo = tileAt(target)?.photo;
      if (photo) scroller.activate(photo);
    });
    document.addEventListener('keydown', (event) => this.#key(event));
  }

  // Selecting.

  #click(event) {
    if (this.#hasPressed) {
      // This click only ends a long press.
      this.#hasPressed = false;
      return event.preventDefault();
    }
    const { target } = event;
    if (target.name === 'range') {
      this.selection.setRange(...rangeOf(target), target.checked);
      return this.changed();
    }
    const tile = tileAt(target);
    if (!tile || hasModifier(event)) return undefined;
    const { photo } = tile;
    const isCheck = target === tile.check;
    this.scroller.activate(photo);
    if (!isCheck && this.selection.isEmpty) return this.scroller.saveState();
    if (!isCheck) event.preventDefault();
    return this.#select(photo, event.shiftKey);
  }

  #select(photo, isRange) {
    if (isRange) this.range.extend(photo);
    else this.range.toggle(photo);
  }

  #pressed(event) {
    this.#hasPressed = false;
    const tile = tileAt(event.target);
    if (!tile || event.pointerType === 'mouse' || !event.isPrimary) return;
    const { clientX, clientY } = event;
    const timer = setTimeout(() => {
      this.#press.isDrag = this.#hasPressed = true;
      if (this.selection.has(tile.photo)) this.range.begin(tile.photo);
      else this.range.toggle(tile.photo);
      this.#scrollAtEdge();
    }, LONG_PRESS_MS);
    this.#press = { timer, clientX, clientY };
  }

  #moved({ clientX, clientY }) {
    const press = this.#press;
    if (!press) return;
    if (press.isDrag) {
      Object.assign(press, { clientX, clientY });
      this.#dragTo(clientX, clientY);
    } else if (Math.hypot(clientX - press.clientX, clientY - press.clientY) > MOVED_PX) this.#released();
  }

  #dragTo(x, y) {
    const tile = tileAt(document.elementFromPoint(x, y));
    if (tile) this.range.extend(tile.photo);
  }

  #scrollAtEdge() {
    const { isDrag, clientX, clientY } = this.#press ?? {};
    if (!isDrag) return;
    const top = barHeight() + EDGE_PX;
    const over = clientY < top ? clientY - top : Math.max(0, clientY - innerHeight + EDGE_PX);
    if (over) {
      scrollBy({ top: over / 4, behavior: 'instant' });
      this.#dragTo(clientX, clientY);
    }
    requestAnimationFrame(() => this.#scrollAtEdge());
  }

  #released() {
    clearTimeout(this.#press?.timer);
    this.#press = undefined;
  }

  #clear() {
    this.selection.clear();
    this.changed();
  }

  #selectAll() {
    const { months } = this.scroller.library;
    if (months.length) this.selection.setRange(months.at(-1).from, months[0].end, true);
    this.changed();
  }

  /** Two fingers that move apart or together change the size of the photos. */
  #pinched({ touches: [one, other], target }) {
    if (!other) return void (this.#spread = 0);
    this.#released();
    const spread = Math.hypot(one.clientX - other.clientX, one.clientY - other.clientY);
    this.#spread ||= spread;
    const ratio = spread / this.#spread;
    if (ratio < 1.25 && ratio > 0.8) return;
    this.#spread = spread;
    this.scroller.scale(Math.sign(ratio - 1), tileAt(target));
  }

  // Keys.

  #key(event) {
    const action = !isTyping(event) && this.#action(event);
    if (!action) return;
    event.preventDefault();
    action();
  }

  #action(event) {
    const { shiftKey, target } = event;
    const key = (hasModifier(event) ? 'Ctrl ' : '') + event.key;
    const areLetters = areLettersOn();
    const isSelecting = !this.selection.isEmpty;
    const general = {
      'Ctrl a': () => this.#selectAll(),
      Escape: isSelecting && (() => this.#clear()),
      // In a large library, the browser itself would scroll only to the ends of the part that is in the document.
      Home: () => this.scroller.jump(-Infinity),
      End: () => this.scroller.jump(Infinity),
      Delete: isSelecting && (() => this.act((actions) => actions.delete())),
      ...(areLetters && {
        g: () => this.#askDate(),
        m: () => this.#month(1),
        M: () => this.#month(-1),
        '+': () => this.scroller.scale(1),
        '=': () => this.scroller.scale(1),
        '-': () => this.scroller.scale(-1),
      }),
    };
    if (general[key]) return general[key];
    const tile = tileAt(target);
    if (!tile) {
      // If nothing has the focus, left and right move it into the grid.
      const photo = target === document.body && /Left|Right/.test(key) && this.scroller.active;
      return photo && (() => this.scroller.focusTile(photo.id));
    }
    if (key.startsWith('Arrow')) return () => this.#move(key, shiftKey, tile.photo);
    if ((key === ' ' && target !== tile.day) || (key === 'x' && areLetters)) return () => this.#select(tile.photo, shiftKey);
    // Enter opens the photo also when its check box has the focus.
    return key === 'Enter' && target === tile.check && (() => tile.link.click());
  }

  async #move(key, isRange, photo) {
    const place = this.scroller.find(photo);
    if (!place) return;
    const step = /Left|Up/.test(key) ? -1 : 1;
    const next = await (/Left|Right/.test(key) ? this.scroller.beside(place, step) : this.scroller.across(place, step));
    if (!next) return;
    if (isRange) this.range.extend(next.part.photos[next.index], photo);
    this.scroller.focus(next);
  }

  #month(step) {
    const { months } = this.scroller.library;
    const { y } = this.scroller;
    if (!months.length) return;
    const here = this.scroller.monthAt(Math.max(0, y + 1));
    // The key for the newer month first leads to the beginning of this month, unless that is at the top already.
    const isOnTop = y < here.top + 8;
    const month = months[months.indexOf(here) + (step < 0 && !isOnTop ? 0 : step)];
    if (!month) return;
    this.scroller.jump(month.top);
    announce(`${month.name}, ${photosText(month.count)}`);
  }

  #askDate() {
    const input = make('input', { type: 'date', name: 'date', required: true });
    const time = this.scroller.time ?? this.scroller.library.months[0]?.end - 1;
    if (time > 0) input.value = new Date(time + 0.5).toISOString().slice(0, 10);
    input.ariaLabel = 'Date';
    openDialog('Go to a date', dialogForm(input, 'Go', () => this.scroller.jumpTo(input.valueAsNumber + 86_400_000 - 0.5)));
  }
}
