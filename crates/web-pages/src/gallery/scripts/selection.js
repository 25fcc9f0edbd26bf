// Which photos are selected (timeline.js): single photos, ranges of capture times, and exceptions from the ranges. Capture times
// are unique in a library, so two of them name any number of photos, also those that are not loaded.

class Selection {
  /** Photos outside of the ranges, and exceptions inside of them: id to capture time. */
  #ids = new Map();
  #ranges = [];
  #except = new Map();

  get isEmpty() {
    return this.#ids.size + this.#ranges.length === 0;
  }

  #isInRange(time) {
    return this.#ranges.some(([from, to]) => from <= time && time <= to);
  }

  has({ id, t }) {
    return this.#ids.has(id) || (this.#isInRange(t) && !this.#except.has(id));
  }

  /** Whether all photos of these times are selected. */
  hasRange(from, to) {
    const isCovered = this.#ranges.some((range) => range[0] <= from && to <= range[1]);
    return isCovered && ![...this.#except.values()].some((time) => from <= time && time <= to);
  }

  set({ id, t }, isSelected) {
    const [inside, outside] = isSelected ? [this.#ids, this.#except] : [this.#except, this.#ids];
    outside.delete(id);
    if (this.#isInRange(t) !== isSelected) inside.set(id, t);
  }

  /** Selects or deselects all photos of these times, in either order. */
  setRange(one, other, isSelected) {
    let [from, to] = one < other ? [one, other] : [other, one];
    for (const map of [this.#ids, this.#except]) {
      for (const [id, time] of map) if (from <= time && time <= to) map.delete(id);
    }
    if (isSelected) {
      const apart = this.#ranges.filter((range) => range[1] < from - 1 || range[0] > to + 1);
      for (const range of this.#ranges) if (!apart.includes(range)) [from, to] = [Math.min(from, range[0]), Math.max(to, range[1])];
      this.#ranges = [...apart, [from, to]];
    } else {
      this.#ranges = this.#ranges.flatMap((range) =>
        [
          [range[0], Math.min(range[1], from - 1)],
          [Math.max(range[0], to + 1), range[1]],
        ].filter(([start, end]) => start <= end && (end < from || start > to)),
      );
    }
  }

  clear() {
    this.restore({ ids: [], ranges: [], except: [] });
  }

  /** A copy, to return to. */
  get state() {
    return { ids: [...this.#ids], ranges: [...this.#ranges], except: [...this.#except] };
  }

  restore({ ids, ranges, except }) {
    this.#ids = new Map(ids);
    this.#ranges = [...ranges];
    this.#except = new Map(except);
  }

  /** As the service takes it. */
  get body() {
    return { ids: [...this.#ids.keys()], ranges: this.#ranges, except: [...this.#except.keys()] };
  }

  /** The number of photos, or undefined if it depends on photos that are not loaded. */
  countIn(library) {
    let sum = this.#ids.size - this.#except.size;
    for (const range of this.#ranges) {
      const count = library.count(range);
      if (count === undefined) return undefined;
      sum += count;
    }
    return sum;
  }
}
