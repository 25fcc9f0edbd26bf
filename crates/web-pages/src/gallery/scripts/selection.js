// Which photos of the timeline are selected, as ranges of capture times. These are unique in a library, so two of them name any
// number of photos, also those that are not loaded.

/** The times of the check box of a month. */
const rangeOf = ({ value }) => value.split(':').map(Number);

class Selection {
  /** Ranges `[from, to]` that do not touch each other. That of a single photo has its id, too. */
  #ranges = [];

  get isEmpty() {
    return !this.#ranges.length;
  }

  has({ t }) {
    return this.hasRange(t, t);
  }

  /** Whether all photos of these times are selected. */
  hasRange(from, to) {
    return this.#ranges.some((range) => range[0] <= from && to <= range[1]);
  }

  set({ id, t }, isSelected) {
    this.setRange(t, t, isSelected, id);
  }

  /** Selects or deselects all photos of these times. */
  setRange(from, to, isSelected, id) {
    const isApart = ([start, end]) => end < from - 1 || start > to + 1;
    const near = this.#ranges.filter((range) => !isApart(range)).flatMap(([start, end]) => [start, end]);
    const ends = [[Math.min(from, ...near), from - 1], [to + 1, Math.max(to, ...near)]];
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

  /** A value to return to. */
  get state() {
    return this.#ranges;
  }

  restore(state) {
    this.#ranges = state;
  }

  /** As the service takes it. */
  get body() {
    const ranges = this.#ranges.filter(([, , id]) => !id);
    return { ids: this.#ranges.flatMap(([, , id]) => id ?? []), ranges };
  }

  /** The number of photos, or undefined if it depends on photos that are not loaded. */
  countIn(library) {
    const counts = this.#ranges.map((range) => (range[2] ? 1 : library.count(range)));
    return counts.includes(undefined) ? undefined : counts.reduce((sum, count) => sum + count, 0);
  }
}
