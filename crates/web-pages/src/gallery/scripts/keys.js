// Mouse, touch and keyboard in the grid (timeline.js).

const LONG_PRESS_MS = 400;
const MOVED_PX = 10;
/** Height of the strips at the top and bottom of the window in which a drag scrolls. */
const EDGE_PX = 72;
const HELP = [
  ['Arrows', 'Move to another photo'],
  ['Enter', 'Open the photo'],
  ['Space or x', 'Select the photo'],
  ['Shift and arrows', 'Select a range'],
  ['Ctrl A', 'Select all photos'],
  ['Home, End', 'Newest photos, oldest photos'],
  ['Escape', 'Clear the selection'],
  ['Delete', 'Delete the selected photos'],
  ['/', 'Search'],
  ['g', 'Go to a date'],
  ['m, Shift m', 'Older month, newer month'],
  ['?', 'Show these keys'],
];

class Keys {
  #root;
  #scroller;
  #selection;
  #actions;
  /** The other end of a range, and the selection before it. */
  #range;
  #press;
  #hasPressed = false;

  /** `changed()` is called after the selection changed. */
  constructor(root, scroller, selection, actions, changed) {
    Object.assign(this, { changed });
    this.#root = root;
    this.#scroller = scroller;
    this.#selection = selection;
    this.#actions = actions;
    root.addEventListener('click', (event) => this.#click(event));
    root.addEventListener('pointerdown', (event) => this.#pressed(event));
    root.addEventListener('pointermove', (event) => this.#moved(event));
    for (const name of ['pointerup', 'pointercancel']) root.addEventListener(name, (event) => this.#released(event));
    root.addEventListener('contextmenu', (event) => this.#press && event.preventDefault());
    // Scrolling is off while a drag selects photos.
    root.addEventListener('touchmove', (event) => this.#press?.isDrag && event.preventDefault(), { passive: false });
    root.addEventListener('focusin', ({ target }) => {
      const tile = target.closest('li')?.tile;
      if (tile) scroller.activate(tile.photo);
    });
    document.addEventListener('keydown', (event) => this.#key(event));
  }

  // Selecting.

  #toggle(photo) {
    const isSelected = !this.#selection.has(photo);
    this.#selection.set(photo, isSelected);
    this.#setRangeStart(photo, isSelected);
    this.changed();
  }

  #setRangeStart(photo, isSelected = true) {
    this.#range = { photo, isSelected, state: this.#selection.state };
  }

  /** Selects all photos between the start of the range and this one, and undoes what an earlier end of it selected. */
  #extend(photo) {
    if (!this.#range) this.#setRangeStart(photo);
    const { photo: start, isSelected, state } = this.#range;
    this.#selection.restore(state);
    this.#selection.setRange(start.t, photo.t, isSelected);
    this.changed();
  }

  #click(event) {
    if (this.#hasPressed) {
      // The click that ends a long press.
      this.#hasPressed = false;
      return event.preventDefault();
    }
    const { target } = event;
    if (target.name === 'range') {
      const [from, to] = target.value.split(':').map(Number);
      this.#selection.setRange(from, to, target.checked);
      return this.changed();
    }
    const tile = target.closest('li')?.tile;
    if (!tile || event.ctrlKey || event.metaKey) return undefined;
    const { photo } = tile;
    if (target !== tile.check && this.#selection.isEmpty) {
      this.#scroller.activate(photo);
      return this.#scroller.saveState();
    }
    if (target !== tile.check) event.preventDefault();
    this.#scroller.activate(photo);
    if (event.shiftKey && this.#range) return this.#extend(photo);
    return this.#toggle(photo);
  }

  #pressed(event) {
    this.#hasPressed = false;
    const tile = event.target.closest('li')?.tile;
    if (!tile || event.pointerType === 'mouse' || !event.isPrimary) return;
    const { clientX, clientY } = event;
    const timer = setTimeout(() => {
      this.#press.isDrag = this.#hasPressed = true;
      navigator.vibrate?.(10);
      if (this.#selection.has(tile.photo)) this.#setRangeStart(tile.photo);
      else this.#toggle(tile.photo);
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
    const tile = document.elementFromPoint(x, y)?.closest('li')?.tile;
    if (tile) this.#extend(tile.photo);
  }

  #scrollAtEdge() {
    const { isDrag, clientX, clientY } = this.#press ?? {};
    if (!isDrag) return;
    const over = clientY < EDGE_PX ? clientY - EDGE_PX : Math.max(0, clientY - innerHeight + EDGE_PX);
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

  // Keys.

  #key(event) {
    const { target, key, shiftKey } = event;
    if (isTyping(event)) return;
    const action = event.ctrlKey || event.metaKey ? this.#withControl(key) : this.#action(key, shiftKey, target);
    if (!action) return;
    event.preventDefault();
    action();
  }

  #withControl(key) {
    if (key.toLowerCase() !== 'a') return undefined;
    const { months } = this.#scroller.library;
    return () => {
      if (months.length) this.#selection.setRange(months.at(-1).from, months[0].end - 1, true);
      this.changed();
    };
  }

  #action(key, shift, target) {
    const tile = target.closest('li')?.tile;
    const isSelecting = !this.#selection.isEmpty;
    const general = {
      Escape: isSelecting && (() => this.#actions.clear()),
      // In a large library these keys of the browser would lead to the ends of the window only.
      Home: () => this.#scroller.jump(-Infinity),
      End: () => this.#scroller.jump(Infinity),
      Delete: isSelecting && (() => this.#actions.delete()),
      ...(areLettersOn() && {
        '/': focusSearch,
        g: () => this.#askDate(),
        m: () => this.#month(1),
        M: () => this.#month(-1),
        '?': showHelp,
      }),
    };
    if (general[key]) return general[key];
    const isMove = key.startsWith('Arrow');
    if (!tile) {
      // From the top of the page, left and right lead into the grid.
      const photo = target === document.body && /Left|Right/.test(key) && this.#scroller.active;
      return photo && (() => this.#scroller.tileOf(photo)?.link.focus());
    }
    if (isMove) return () => this.#move(key, shift, tile.photo);
    if (key === ' ' || (key === 'x' && areLettersOn())) return () => (shift && this.#range ? this.#extend(tile.photo) : this.#toggle(tile.photo));
    // Enter on the check box opens the photo, too.
    if (key === 'Enter' && target === tile.check) return () => tile.link.click();
    return undefined;
  }

  async #move(key, shift, photo) {
    const place = this.#scroller.find(photo);
    if (!place) return;
    const step = /Left|Up/.test(key) ? -1 : 1;
    const next = await (/Left|Right/.test(key) ? this.#scroller.beside(place, step) : this.#scroller.across(place, step));
    if (!next) return;
    if (shift) {
      if (!this.#range || this.#selection.isEmpty) this.#setRangeStart(photo);
      this.#extend(next.part.photos[next.index]);
    }
    this.#scroller.focus(next);
  }

  #month(step) {
    const { months } = this.#scroller.library;
    const { y } = this.#scroller;
    if (!months.length) return;
    const here = this.#scroller.monthAt(Math.max(0, y + 1));
    // The newer month is the beginning of this one, unless that is on top.
    const isOnTop = y < here.top + 8;
    const month = months[months.indexOf(here) + (step < 0 && !isOnTop ? 0 : step)];
    if (!month) return;
    this.#scroller.jump(month.top);
    announce(`${month.name}, ${photosText(month.count)}`);
  }

  #askDate() {
    const input = make('input', { type: 'date', name: 'date', required: true });
    const time = this.#scroller.time ?? this.#scroller.library.months[0]?.end - 1;
    if (time > 0) input.value = new Date(time).toISOString().slice(0, 10);
    input.ariaLabel = 'Date';
    const form = make('form', { method: 'dialog' }, input, make('button', { textContent: 'Go' }));
    form.addEventListener('submit', () => this.#scroller.jumpTo(input.valueAsNumber + 86_400_000 - 1));
    openDialog('Go to a date', form);
  }
}

function focusSearch() {
  const field = document.querySelector('input[type="search"]');
  if (field) field.focus();
  else location.assign('/search');
}

function showHelp() {
  const list = make('dl', { className: 'keys' });
  for (const [key, text] of HELP) list.append(make('dt', {}, make('kbd', { textContent: key })), make('dd', { textContent: text }));
  const check = make('input', { type: 'checkbox', checked: areLettersOn() });
  check.addEventListener('change', () => localStorage.setItem(LETTERS, check.checked ? 'on' : 'off'));
  const dialog = openDialog('Keys', list, make('label', { className: 'check' }, check, 'Single letters are shortcuts'), makeButton('Close', () => dialog.close()));
}
