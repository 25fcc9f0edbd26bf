// The selected photos of the timeline, as ranges of their times. The times are unique in a library, so a range can contain any number
// of photos, also photos that are not loaded.

/** The distance of a time from the next one: that of two photos, or from 2039 on more than what is lost when both are rounded. */
const stepAt = (time) => (Math.abs(time) < 2 ** 41 ? 2 ** -12 : Math.abs(time) * 2 ** -51);

/** The range of times in the value of the check box of a month or a day. */
const rangeOf = ({ value }) => value.split(':').map(Number);

class Selection {
  /** Ranges `[from, to]` that do not touch each other. The range of a single photo also has its id: `[from, to, id]`. */
  #ranges = [];

  get isEmpty() {
    return !this.#ranges.length;
  }

  has({ t }) {
    return this.hasRange(t, t);
  }

  /** Whether all photos in this range of times are selected. */
  hasRange(from, to) {
    return this.#ranges.some((range) => range[0] <= from && to <= range[1]);
  }

  set({ id, t }, isSelected) {
    this.setRange(t, t, isSelected, id);
  }

  /** Selects or deselects all photos in this range of times. */
  setRange(from, to, isSelected, id) {
    const [above, below] = [to + stepAt(to), from - stepAt(from)];
    const isApart = ([start, end]) => end < below || start > above;
    const near = this.#ranges.filter((range) => !isApart(range)).flatMap(([start, end]) => [start, end]);
    const ends = [[Math.min(from, ...near), below], [above, Math.max(to, ...near)]];
    const changed = isSelected ? [near.length ? [ends[0][0], ends[1][1]] : [from, to, id]] : ends.filter(([start, end]) => start <= end);
    this.#ranges = [...this.#ranges.filter(isApart), ...changed];
  }

  /** Selects or deselects two photos and all between them. */
  setBetween({ t: one }, { t: other }, isSelected) {
    this.setRange(Math.min(one, other), Math.max(one, other), isSelected);
  }

  clear() {
    this.#ranges = [];
  }

  /** The selection as a value for `restore`. */
  get state() {
    return this.#ranges;
  }

  restore(state) {
    this.#ranges = state;
  }

  /** The selection in the form that the service expects. */
  get body() {
    const ranges = this.#ranges.filter(([, , id]) => !id).map(([from, to]) => [from, to]);
    return { ids: this.#ranges.flatMap(([, , id]) => id ?? []), ranges };
  }

  /** The number of photos, or undefined if it depends on photos that are not loaded. */
  countIn(library) {
    const counts = this.#ranges.map((range) => (range[2] ? 1 : library.count(range)));
    return counts.includes(undefined) ? undefined : counts.reduce((sum, count) => sum + count, 0);
  }
}
