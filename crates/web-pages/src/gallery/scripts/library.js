// The photos of the library in months, newest first. Only a few pages of photos are loaded.
//
// The time `t` of a photo is that of a clock where it was taken, as milliseconds of UTC, plus a fraction between -0.36 and 0.36 that
// is the offset of this clock. So no two photos have the same time. The ends of a month are those of `LocalRange::of_month`.
//
// A month is a list of parts: pages of loaded photos, and gaps between them with an estimated number of photos. Most months
// are one page. A gap is loaded from either end, or around a place inside it.

/** Maximum number of loaded pages. */
const MAX_PAGES = 40;
/** Photos per page of the service. */
const PAGE_PHOTOS = 500;
/** A page is joined with the one above it if both together have at most this many photos. */
const MAX_JOINED_PHOTOS = 1_000;
const MAX_REQUESTS = 4;

const clamp = (value, low, high) => Math.min(high, Math.max(low, value));

/** The index of the first item for which `isAfter` is false; it is true for all before it. */
function indexOfFirst(items, isAfter) {
  let [low, high] = [0, items.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (isAfter(items[middle])) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The index of the first photo at this time or before it. */
const indexAt = (photos, time) => indexOfFirst(photos, ({ t }) => t > time);

/** A part of a month: loaded photos, or a gap with `count` photos. */
class Part {
  constructor(photos, count = photos.length) {
    Object.assign(this, { photos, count, used: 0 });
  }
}

class Month {
  constructor(key) {
    const [year, month] = [Math.floor(key / 100), key % 100];
    this.key = key;
    this.year = year;
    const [start, next] = [month - 1, month].map((month) => new Date(0).setUTCFullYear(year, month, 1));
    /** The times before and after all photos of the month. */
    this.from = start - 0.375 - (key === 101) * 864e5;
    this.end = next - 0.625 + (key === 999_912) * 864e5;
    this.name = monthText(start);
    this.parts = [];
  }

  /** Sets the totals. If they have changed, the loaded photos are shown until they have been loaded again. */
  update(count, sum) {
    const isChanged = count !== this.count || Math.abs(sum - this.sum) > 0.01;
    Object.assign(this, { count, sum });
    if (!this.parts.length) this.parts = [new Part(undefined, count)];
    else if (isChanged) this.isStale = true;
  }

  get pages() {
    return this.parts.filter(({ photos }) => photos);
  }

  /** Mean ratio of the photos in gaps. */
  get gapRatio() {
    return this.sum / this.count || 1.33;
  }

  /** The times at the upper and lower end of a gap, exclusive. */
  limits(gap) {
    const place = this.parts.indexOf(gap);
    return { above: this.parts[place - 1]?.photos.at(-1).t ?? this.end, below: this.parts[place + 1]?.photos[0].t ?? this.from };
  }
}

/** The photos of a response, which lists them as columns. */
function photosOf({ id, t, r, v, h, places, p, d }) {
  let time = 0;
  return id.map((name, index) => {
    time = index ? time - t[index] : t[0];
    return { id: name, t: time, r: r[index], v: v[index], h: h[index], place: places[p[index]], words: d[index] };
  });
}

/** The number of the day on which a photo was taken. */
const dayOf = ({ t }) => Math.floor((t + 0.5) / 86_400_000);

/** For each photo with which a day begins, the day and its places, as `day_text` of the service. `before` is the photo before them. */
function daysOf(photos, before) {
  const days = photos.map(() => undefined);
  let day = before && dayOf(before);
  let places = new Set();
  const starts = [];
  photos.forEach((photo, index) => {
    if (dayOf(photo) !== day) {
      day = dayOf(photo);
      starts.push([index, day, (places = new Set())]);
    }
    if (photo.place) places.add(photo.place.split(', ')[0]);
  });
  for (const [index, day, [first, ...others]] of starts) {
    const rest = others.length > 1 ? ` and ${others.length} more places` : others.map((place) => ` and ${place}`);
    days[index] = dayText(day * 86_400_000) + (first ? ` · ${first}${rest}` : '');
  }
  return days;
}

/** The text alternative of a photo: its description, or its time and place. */
function photoText({ t, place, words, alt }) {
  if (alt ?? words) return alt ?? words;
  const local = Math.round(t);
  const clock = new Date(local).toISOString().slice(11, 16);
  return ['Photo', `${dateText(local)} ${clock}`, place].filter(Boolean).join(', ');
}

class Library {
  months = [];
  #requests = new Map();
  #clock = 0;

  /** `changed(month)` is called after the loaded photos of a month have changed, `failed(error)` after a request has failed. */
  constructor(changed, failed) {
    Object.assign(this, { changed, failed });
  }

  /** Loads the totals of all months. Returns whether they changed. */
  async refresh() {
    const { gen, m } = await requestJson('/web/months');
    if (gen === this.generation) return false;
    const known = new Map(this.months.map((month) => [month.key, month]));
    this.months = m.map(([key, count, sum]) => {
      const month = known.get(key) ?? new Month(key);
      month.update(count, sum);
      return month;
    });
    this.generation = gen;
    return true;
  }

  /** The month of a time, or the next older month with photos, or the oldest month. */
  monthAt(time) {
    return this.months[indexOfFirst(this.months, ({ from }) => from >= time)] ?? this.months.at(-1);
  }

  /** The place `{ month, part, index }` of the newest photo of this time or before it. In a gap, `index` is an estimate. */
  find(time) {
    const month = this.monthAt(time);
    if (!month) return undefined;
    for (const part of month.parts) {
      if (part.photos) {
        if (part.photos.at(-1).t <= time) return { month, part, index: indexAt(part.photos, time) };
      } else {
        const { above, below } = month.limits(part);
        if (time > below) return { month, part, index: part.count * clamp((above - time) / (above - below), 0, 1) };
      }
    }
    const part = month.parts.at(-1);
    return { month, part, index: Math.max(0, part.count - 1) };
  }

  /** Adds photos that the server rendered. They are the newest of the library (`isNewest`), or the photos from some time on. */
  adopt(lists, isNewest) {
    lists.forEach(([key, photos], place) => {
      const month = this.months.find((month) => month.key === key);
      if (!month || !photos.length) return;
      const [isTop, isBottom] = [isNewest || place > 0, place < lists.length - 1];
      this.#replace(month, photos, isTop, isBottom);
    });
  }

  /** Replaces a gap, by default that of a whole month, by loaded photos and the gaps that remain above and below them. */
  #replace(month, photos, isTop, isBottom, gap = month.parts[0], share = (month.end - photos[0]?.t) / (month.end - month.from) || 0) {
    const rest = gap.count - photos.length;
    const upper = isBottom ? rest : clamp(Math.round(share * rest), 1, rest - 1);
    const parts = [];
    if (!isTop) parts.push(new Part(undefined, Math.max(1, upper)));
    if (photos.length) parts.push(new Part(photos));
    if (!isBottom) parts.push(new Part(undefined, Math.max(1, isTop ? rest : rest - upper)));
    const place = month.parts.indexOf(gap);
    const previous = month.parts[place - 1];
    if (isTop && photos.length && previous && previous.count + photos.length <= MAX_JOINED_PHOTOS) {
      previous.photos.push(...photos);
      previous.count = previous.photos.length;
      previous.rows = undefined;
      parts.shift();
    }
    month.parts.splice(place, 1, ...parts);
    for (const part of month.pages) part.used = this.#clock += 1;
  }

  /** Whether another request may start. */
  get isFree() {
    return this.#requests.size < MAX_REQUESTS;
  }

  /** Cancels the requests of months that are no longer wanted. */
  keepRequests(isWanted) {
    for (const [part, { month, abort, isKept }] of this.#requests) {
      if (!isKept && !isWanted(month)) {
        abort.abort();
        this.#requests.delete(part);
      }
    }
  }

  /**
   * Loads a page of a gap: at its upper end if it is small or `index` is near, at its lower end, or around `index`. Returns a
   * promise that is fulfilled when the page is in place.
   */
  load(month, gap, index = 0, isKept = false) {
    const running = this.#requests.get(gap);
    if (running) return running.done;
    const abort = new AbortController();
    const done = this.#load(month, gap, index, abort.signal).finally(() => {
      if (this.#requests.get(gap)?.abort === abort) this.#requests.delete(gap);
    });
    this.#requests.set(gap, { month, abort, isKept, done });
    return done;
  }

  async #load(month, gap, index, signal) {
    const { above, below } = month.limits(gap);
    const isAtTop = gap.count <= PAGE_PHOTOS || index < PAGE_PHOTOS / 2;
    const isAtBottom = !isAtTop && gap.count - index < PAGE_PHOTOS / 2;
    const share = index / gap.count;
    const ask = (query) => requestJson(`/web/month/${month.key}${query}`, { signal });
    const before = (time) => ask(time < month.end ? `?before=${time}` : '');
    const after = () => ask(`?after=${below}`);
    gap.hasFailed = false;
    try {
      let answer = await (isAtBottom ? after() : before(isAtTop ? above : above - share * (above - below) + 1));
      if (!answer.id.length && !isAtTop && !isAtBottom) answer = await after();
      // The gap has changed while the page was loading.
      if (!month.parts.includes(gap)) return;
      const all = photosOf(answer);
      const photos = all.filter(({ t }) => t < above && t > below);
      const isTop = isAtTop || answer.prev === null || all[0]?.t >= above;
      const isBottom = isAtBottom || answer.next === null || all.at(-1)?.t <= below;
      this.#replace(month, photos, isTop, isBottom, gap, share);
      this.#evict();
      this.changed(month);
    } catch (error) {
      if (error.name === 'AbortError') return;
      gap.hasFailed = true;
      this.failed(error, month);
    }
  }

  /** Loads the photos of a stale month again, around this time, and replaces them at once. */
  async reload(month, time) {
    if (month.isReloading) return;
    month.isReloading = true;
    // Reset before the request, because the month may change again during it.
    month.isStale = false;
    const page = month.pages.find(({ photos }) => photos.at(-1).t <= time);
    const first = page?.photos[Math.max(0, indexAt(page.photos, time) - PAGE_PHOTOS / 4)];
    const isWhole = month.count <= PAGE_PHOTOS || !first || first === month.parts[0].photos?.[0];
    try {
      const query = isWhole ? '' : `?before=${first.t + 0.5}`;
      const answer = await requestJson(`/web/month/${month.key}${query}`);
      month.parts = [new Part(undefined, month.count)];
      this.#replace(month, photosOf(answer), answer.prev === null, answer.next === null);
      month.isReloading = false;
      this.changed(month);
    } catch (error) {
      Object.assign(month, { isReloading: false, isStale: true });
      this.failed(error, month);
    }
  }

  /** Marks a page as shown, so that it is not evicted. */
  use(part) {
    part.used = this.#clock += 1;
  }

  #evict() {
    const pages = this.months.flatMap((month) => month.pages.map((part) => ({ month, part })));
    pages.sort((a, b) => b.part.used - a.part.used);
    for (const { month, part } of pages.slice(MAX_PAGES)) {
      part.photos = part.rows = undefined;
      this.#joinGaps(month);
    }
  }

  /** Joins neighbouring gaps. */
  #joinGaps(month) {
    const parts = [];
    for (const part of month.parts) {
      const last = parts.at(-1);
      if (!last || last.photos || part.photos) {
        parts.push(part);
        continue;
      }
      for (const gap of [last, part]) this.#requests.get(gap)?.abort.abort();
      last.count += part.count;
    }
    month.parts = parts;
  }

  /** Removes photos that were deleted. */
  remove(isDeleted) {
    for (const month of this.months) {
      for (const part of month.pages) {
        const photos = part.photos.filter((photo) => !isDeleted(photo));
        if (photos.length === part.photos.length) continue;
        for (const photo of part.photos) if (isDeleted(photo)) month.sum -= photo.r;
        month.count -= part.photos.length - photos.length;
        Object.assign(part, { photos, count: photos.length, rows: undefined });
      }
      month.parts = month.parts.filter(({ count }) => count > 0);
      this.#joinGaps(month);
    }
    this.months = this.months.filter(({ parts }) => parts.length);
    // The totals from the server may already have excluded these photos, so the next refresh must set them again.
    this.generation = undefined;
  }

  /** The number of photos in this range of times, inclusive, or undefined if it depends on photos that are not loaded. */
  count([from, to]) {
    let sum = 0;
    for (const month of this.months) {
      if (month.from > to || month.end < from) continue;
      if (from <= month.from && to >= month.end) {
        sum += month.count;
        continue;
      }
      if (month.isStale || month.isReloading) return undefined;
      for (const part of month.parts) {
        if (part.photos) sum += part.photos.filter(({ t }) => t >= from && t <= to).length;
        else if (month.limits(part).above > from && month.limits(part).below < to) return undefined;
      }
    }
    return sum;
  }
}
