// Selects ranges of photos with Shift, in the timeline and in lists with check boxes.

/** A range that begins at the photo that was selected or deselected last. */
class Range {
  #start;

  /** `changed()` is called after the selection changed. */
  constructor(selection, changed = () => {}) {
    Object.assign(this, { selection, changed });
  }

  /** Begins a range at a photo. */
  begin(photo, isSelected = true) {
    this.#start = { photo, isSelected, state: this.selection.state };
  }

  /** Selects or deselects a photo, and begins a range there. */
  toggle(photo) {
    const isSelected = !this.selection.has(photo);
    this.selection.set(photo, isSelected);
    this.begin(photo, isSelected);
    this.changed();
  }

  /**
   * Extends the range to this photo: selects or deselects all its photos, as the first one was. Undoes an earlier extension.
   * Without a range, begins one at `from`.
   */
  extend(photo, from = photo) {
    if (!this.#start || this.selection.isEmpty) this.begin(from);
    const { photo: start, isSelected, state } = this.#start;
    this.selection.restore(state);
    this.selection.setBetween(start, photo, isSelected);
    this.changed();
  }
}

/** The check boxes of a list as a selection. */
class CheckBoxes {
  constructor(list) {
    this.all = [...list.querySelectorAll('input[name="image"]')];
  }

  get count() {
    return this.all.filter(({ checked }) => checked).length;
  }

  get state() {
    return this.all.map(({ checked }) => checked);
  }

  restore(state) {
    this.all.forEach((box, place) => (box.checked = state[place]));
  }

  setBetween(one, other, isSelected) {
    const [from, to] = [one, other].map((box) => this.all.indexOf(box)).sort((a, b) => a - b);
    for (const box of this.all.slice(from, to + 1)) box.checked = isSelected;
  }
}

/** The latest range of each list. */
const listRanges = new WeakMap();

// Space causes a click, too. The browser has changed the check box before this event.
document.addEventListener('click', ({ target, shiftKey }) => {
  const list = target.name === 'image' && target.closest('ul.rows');
  if (!list || list.closest('#timeline')) return;
  const boxes = new CheckBoxes(list);
  if (shiftKey && listRanges.has(list)) listRanges.get(list).extend(target);
  else {
    const range = new Range(boxes);
    range.begin(target, target.checked);
    listRanges.set(list, range);
  }
  announce(`${photosText(boxes.count)} selected`);
});
