// The timeline as a list of months of which only those in sight are in the document (timeline.js).
//
// Positions are those in the whole timeline, `y`. The document shows a window of it that begins at `#base`: all of it up to
// MAX_WHOLE_PX, because browsers limit the height of a document. Months that are not loaded have estimated heights. When a
// height above changes, or the width, the photo in sight keeps its place: first only the base moves, which does not disturb
// a scroll that is under way; at rest the scroll position follows.

/** A higher timeline is shown in windows. */
const MAX_WHOLE_PX = 8e6;
const WINDOW_PX = 4e6;
/** Screens above and below the visible one that are in the document. */
const AHEAD = 1;
const MAX_TILES = 330;
/** New elements per frame. */
const MAX_NEW_TILES = 30;
const FAST_SCREENS_PER_S = 3;
const REST_MS = 120;
const MONTH_GAP_PX = 24;
/** Photos above the visible ones that a page inside a gap begins with. */
const LEAD_PHOTOS = 60;

class Scroller {
  #root;
  #grid;
  #base = 0;
  #docTop = 0;
  #height = 0;
  #head;
  #anchor;
  #sections = new Map();
  #tiles = new Map();
  #frame;
  #rest;
  #last = { y: 0, at: 0 };
  #direction = 1;
  #expected;
  /** The photo with the tab stop. */
  active;

  /** `changed()` is called when the photos in sight change, `painted(tile)` for each new tile. */
  constructor(root, { changed, painted, failed }) {
    Object.assign(this, { changed, painted });
    this.#root = root;
    this.library = new Library(() => this.relayout(), failed);
    const heading = root.querySelector('h2');
    this.#head = heading ? heading.offsetHeight : 48;
    this.#measureWindow();
    const { at } = root.dataset;
    if (at) this.#anchor = { time: Number(at), offset: history.state?.offset ?? this.#head };
  }

  /** Loads the months and takes over the photos that the server rendered. */
  async start() {
    const sections = [...this.#root.querySelectorAll('section.month')];
    const lists = sections.map((section) => {
      const items = [...section.querySelectorAll('li')];
      const photos = items.map(({ dataset }, index) => ({
        id: dataset.id,
        t: Number(dataset.t),
        r: Number(dataset.r),
        v: dataset.v,
        h: dataset.h,
        o: dataset.o ? Number(dataset.o) : null,
        alt: items[index].querySelector('img').alt,
      }));
      return [Number(section.dataset.month), photos, items];
    });
    await this.library.refresh();
    this.library.adopt(lists, !this.#root.dataset.at);
    lists.forEach(([key, photos, items], place) => {
      if (this.library.months.some((month) => month.key === key)) {
        const section = sections[place];
        this.#sections.set(key, this.#sectionParts(section));
        photos.forEach((photo, index) => this.#tiles.set(photo.id, new Tile(photo, items[index])));
      } else sections[place].remove();
    });
    for (const tile of this.#tiles.values()) this.painted(tile);
    // A page without photos says so, but others have some.
    for (const child of [...this.#root.children]) if (!sections.includes(child)) child.remove();
    this.#root.classList.add('placed');
    this.#root.style.minHeight = '';
    this.relayout();
    addEventListener('scroll', () => this.#scrolled(), { passive: true });
    new ResizeObserver(() => this.#resized()).observe(this.#root);
    addEventListener('resize', () => this.#resized());
  }

  #measureWindow() {
    this.#grid = gridOf(this.#root.clientWidth);
    this.#docTop = this.#root.getBoundingClientRect().top + scrollY;
    this.screen = innerHeight;
  }

  #resized() {
    const { width } = this.#grid;
    this.#measureWindow();
    if (this.#grid.width === width) return this.render();
    this.#head = this.#root.querySelector('h2')?.offsetHeight ?? this.#head;
    for (const month of this.library.months) for (const part of month.pages) part.rows = undefined;
    this.relayout();
  }

  // Heights.

  /** Height of a part, and the rows of its photos. */
  #measure(month, part) {
    const isLast = part === month.parts.at(-1);
    const { width, target, gap } = this.#grid;
    if (!part.photos) return Math.ceil((part.count * month.gapRatio * target) / width) * (target + gap);
    if (!part.rows || part.isLast !== isLast) {
      part.ratios = part.photos.map(({ r }) => r);
      part.rows = rowsOf(part.ratios, this.#grid, !isLast);
      part.isLast = isLast;
    }
    const row = part.rows.at(-1);
    return row.top + row.height + gap;
  }

  #measureAll() {
    let top = 0;
    for (const month of this.library.months) {
      month.top = top;
      let height = this.#head;
      for (const part of month.parts) {
        part.top = height;
        part.height = this.#measure(month, part);
        height += part.height;
      }
      month.height = height + MONTH_GAP_PX;
      top += month.height;
    }
    this.#height = top;
  }

  /** Height of the whole timeline. */
  get height() {
    return this.#height;
  }

  /** The position at the top of the window. */
  get y() {
    return scrollY - this.#docTop + this.#base;
  }

  /** The month at a position. */
  monthAt(y) {
    const { months } = this.library;
    let [low, high] = [0, months.length - 1];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (months[middle].top <= y) low = middle;
      else high = middle - 1;
    }
    return months[low];
  }

  #rowOf(part, index) {
    let [low, high] = [0, part.rows.length - 1];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (part.rows[middle].to <= index) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** The position of a place `{ month, part, index }`. */
  topOf({ month, part, index }) {
    const inside = part.photos ? part.rows[this.#rowOf(part, index)].top : (index / part.count) * part.height;
    return month.top + part.top + inside;
  }

  /** The place at a position: the first photo of the row there, or a share of a gap. */
  placeAt(y) {
    const month = this.monthAt(y);
    if (!month) return undefined;
    const inside = Math.max(0, y - month.top);
    const part = month.parts.findLast(({ top }) => top <= inside) ?? month.parts[0];
    const offset = Math.max(0, inside - part.top);
    if (!part.photos) return { month, part, index: Math.min(1, offset / part.height) * part.count };
    const row = part.rows.find(({ top, height }) => top + height > offset) ?? part.rows.at(-1);
    return { month, part, index: row.from };
  }

  #timeOf({ month, part, index }) {
    if (part.photos) return part.photos[index].t;
    const { above, below } = month.limits(part);
    return above - 1 - (index / part.count) * (above - below - 1);
  }

  // The anchor.

  /** Remembers the photo at the top of the window. At the top of the page there is none, so that new photos appear there. */
  #setAnchor() {
    const { y } = this;
    const place = y > 0 && this.placeAt(y + this.#head);
    // At the end of the timeline, the distance to the end stays.
    const rest = y + this.screen > this.#height - 1 ? this.#height - y : undefined;
    this.#anchor = place ? { time: this.#timeOf(place), offset: this.topOf(place) - y, rest, isGuess: !place.part.photos } : undefined;
  }

  /** The time of the first visible photo, if the page is not at its top. */
  get time() {
    return this.#anchor?.time;
  }

  /** Measures all heights, keeps the anchor where it is, and draws. */
  relayout() {
    this.#measureAll();
    const place = this.#anchor && this.library.find(this.#anchor.time);
    if (this.#anchor?.rest) this.#base = Math.round(this.#height - this.#anchor.rest + this.#docTop - scrollY);
    else if (place) this.#base = Math.round(this.topOf(place) + this.#docTop - scrollY - this.#anchor.offset);
    else if (this.#height <= MAX_WHOLE_PX) this.#base = 0;
    if (this.#anchor?.isGuess && place?.part.photos) {
      // The time was estimated: now it is that of the first photo of its row.
      const { photos, rows } = place.part;
      Object.assign(this.#anchor, { time: photos[rows[this.#rowOf(place.part, place.index)].from].t, isGuess: false });
      this.#rest ??= setTimeout(() => this.#rested(), REST_MS);
    }
    this.#rebase();
    if (this.#anchor?.rest) {
      this.#setAnchor();
      this.#rest ??= setTimeout(() => this.#rested(), REST_MS);
    }
    this.render();
  }

  /** Moves the window of the document so that the position is inside it, once scrolling has ended or its ends are near. */
  #rebase() {
    const { y, screen } = this;
    const isWhole = this.#height <= MAX_WHOLE_PX;
    const size = isWhole ? this.#height : WINDOW_PX;
    const last = Math.max(0, this.#height - size);
    const isInside = this.#base >= 0 && this.#base <= last;
    const margin = isWhole ? 0 : WINDOW_PX / 8;
    const isNearEnd = (this.#base > 0 && y - this.#base < margin) || (this.#base < last && y - this.#base > size - margin);
    const mustMove = !isInside || isNearEnd;
    const isAtEdge = y - this.#base < screen * 2 || y - this.#base > size - screen * 3;
    if (mustMove && (!this.#rest || isAtEdge)) {
      const base = Math.round(Math.min(last, Math.max(0, y - size / 2)));
      this.#setBase(base, y);
    } else this.#setBase(this.#base, y);
  }

  /** Sets where the window of the document begins, and shows this position. */
  #setBase(base, y) {
    const isWhole = this.#height <= MAX_WHOLE_PX;
    this.#base = base;
    this.#root.style.height = `${isWhole ? this.#height - base : Math.min(this.#height - base, WINDOW_PX)}px`;
    const to = Math.max(0, y + this.#docTop - base);
    if (Math.abs(to - scrollY) < 0.5) return;
    scrollTo({ top: to, behavior: 'instant' });
    this.#expected = scrollY;
  }

  /** Shows a position. */
  jump(y) {
    const to = Math.max(-this.#docTop, Math.min(y, this.#height - this.screen + MONTH_GAP_PX));
    const size = this.#height <= MAX_WHOLE_PX ? this.#height : WINDOW_PX;
    this.#setBase(Math.round(Math.min(this.#height - size, Math.max(0, to - size / 2))), to);
    this.#moved();
    this.#expected = scrollY;
  }

  /** Shows the photos of a time. When they have been loaded, the photo of that time is on top. */
  jumpTo(time) {
    const place = this.library.find(time);
    if (!place) return;
    this.jump(this.topOf(place) - this.#head);
    this.#anchor = { time, offset: this.#head, isGuess: true };
    this.#expected = scrollY;
  }

  // Scrolling.

  #scrolled() {
    // The event of a scroll by this script.
    if (Math.abs(scrollY - this.#expected) < 1) return;
    this.#expected = undefined;
    this.#moved();
  }

  #moved() {
    const now = performance.now();
    const { y } = this;
    const seconds = Math.max(0.016, (now - this.#last.at) / 1000);
    const speed = Math.abs(y - this.#last.y) / this.screen / seconds;
    images.isPaused = seconds < 0.3 && speed > FAST_SCREENS_PER_S;
    if (y !== this.#last.y) this.#direction = y < this.#last.y ? -1 : 1;
    this.#last = { y, at: now };
    this.#setAnchor();
    clearTimeout(this.#rest);
    this.#rest = setTimeout(() => this.#rested(), REST_MS);
    this.#rebase();
    this.draw();
  }

  #rested() {
    this.#rest = undefined;
    images.isPaused = false;
    this.#rebase();
    this.render();
    this.saveState();
  }

  /** Remembers the place in the history, so that Back and reload lead to it. */
  saveState() {
    const query = this.#anchor ? `?at=${Math.floor(this.#anchor.time)}` : '';
    const state = { offset: this.#anchor?.offset, active: this.active?.id };
    history.replaceState(state, '', location.pathname + query);
  }

  /** Draws in the next frame. */
  draw() {
    this.#frame ??= requestAnimationFrame(() => this.render());
  }

  // Drawing.

  #sectionParts(section) {
    const [list, heading] = [section.querySelector('ul'), section.querySelector('h2')];
    const check = section.querySelector('.all input');
    const button = makeButton('', () => {}, 'load');
    button.hidden = true;
    list.before(button);
    const parts = { section, list, heading, check, button };
    section.parts = parts;
    return parts;
  }

  #makeSection(month) {
    const heading = make('h2', { id: `m${month.key}`, textContent: month.name });
    const check = make('input', { type: 'checkbox', name: 'range', value: `${month.from}:${month.end - 1}` });
    const all = make('label', { className: 'all' }, check, ` Select all of ${month.name}`);
    const section = make('section', { className: 'month' }, heading, all, make('ul', { className: 'rows' }));
    section.dataset.month = month.key;
    section.setAttribute('aria-labelledby', heading.id);
    return this.#sectionParts(section);
  }

  /** Mounts what is within AHEAD screens of the window, and removes the rest. */
  render() {
    cancelAnimationFrame(this.#frame);
    this.#frame = undefined;
    const { months } = this.library;
    if (!months.length) return this.#renderEmpty();
    const { y, screen } = this;
    const isVisible = (top, height) => top < y + screen && top + height > y;
    const [from, to] = [y - AHEAD * screen, y + (1 + AHEAD) * screen];
    const rows = [];
    const gaps = [];
    const shown = new Set();
    for (let place = months.indexOf(this.monthAt(from)); months[place]?.top < to; place += 1) {
      const month = months[place];
      shown.add(month.key);
      for (const part of month.parts) {
        const top = month.top + part.top;
        if (top > to || top + part.height < from) continue;
        if (!part.photos) {
          gaps.push({ month, part, top, isVisible: isVisible(top, part.height) });
          continue;
        }
        this.library.use(part);
        for (const row of part.rows) {
          const rowTop = top + row.top;
          if (rowTop < to && rowTop + row.height > from) rows.push({ month, part, row, top: rowTop, isVisible: isVisible(rowTop, row.height) });
        }
      }
    }
    this.#mount(months, shown, rows);
    if (!images.isPaused) this.#load(gaps, y);
    this.library.keepRequests((month) => month.top < to + 2 * screen && month.top + month.height > from - 2 * screen);
    this.changed();
  }

  #renderEmpty() {
    for (const tile of this.#tiles.values()) tile.remove();
    for (const { section } of this.#sections.values()) section.remove();
    this.#tiles.clear();
    this.#sections.clear();
    this.changed();
  }

  #mount(months, shown, rows) {
    const focused = document.activeElement;
    for (const [key, { section }] of this.#sections) {
      if (shown.has(key) || section.contains(focused)) continue;
      section.remove();
      this.#sections.delete(key);
    }
    let previous;
    for (const month of months) {
      if (!shown.has(month.key) && !this.#sections.has(month.key)) continue;
      const parts = this.#sections.get(month.key) ?? this.#makeSection(month);
      this.#sections.set(month.key, parts);
      const { section, list, button } = parts;
      if (section.previousElementSibling !== (previous ?? null) || !section.isConnected) {
        if (previous) previous.after(section);
        else this.#root.prepend(section);
      }
      previous = section;
      section.style.top = `${month.top - this.#base}px`;
      section.style.height = `${month.height}px`;
      list.style.height = `${month.height - this.#head - MONTH_GAP_PX}px`;
      const failed = month.parts.find((part) => part.hasFailed && !part.photos);
      section.classList.toggle('waiting', month.parts.some(({ photos }) => !photos));
      const isEmpty = !month.parts.some(({ photos }) => photos);
      const older = months[months.indexOf(month) + 1];
      button.hidden = !failed && !isEmpty && !older;
      button.classList.toggle('failed', Boolean(failed));
      button.textContent = failed || isEmpty ? `Load ${month.name} (${numberFormat.format(month.count)})` : `Skip to ${older?.name}`;
      button.onclick = failed || isEmpty ? () => this.library.load(month, failed ?? month.parts[0], 0, true) : () => this.#skip(month);
    }
    this.#mountTiles(rows, focused);
  }

  #mountTiles(rows, focused) {
    // Visible rows first, then those in the direction of the scroll.
    const ahead = (row) => (row.isVisible ? 0 : (row.top > this.y) === this.#direction > 0 ? 1 : 2);
    const ordered = rows.map((row) => ({ ...row, order: ahead(row) })).sort((a, b) => a.order - b.order || (a.order === 2 || this.#direction < 0 ? b.top - a.top : a.top - b.top));
    const wanted = new Set();
    const urgent = [];
    let created = 0;
    for (const { month, part, row, order } of ordered) {
      if (wanted.size + row.to - row.from > MAX_TILES) break;
      if (order && created > MAX_NEW_TILES) {
        this.draw();
        break;
      }
      const { list } = this.#sections.get(month.key);
      for (const { index, left, width } of cellsOf(row, part.ratios, this.#grid)) {
        const photo = part.photos[index];
        let tile = this.#tiles.get(photo.id);
        if (!tile) {
          tile = new Tile(photo);
          this.#tiles.set(photo.id, tile);
          created += 1;
          this.painted(tile);
        }
        Object.assign(tile, { photo, month, part, index });
        wanted.add(tile);
        tile.place(left, part.top - this.#head + row.top, width, row.height);
        if (tile.item.parentNode !== list) this.#insert(list, tile);
        urgent.push(tile);
      }
    }
    let lost;
    for (const [id, tile] of this.#tiles) {
      if (wanted.has(tile)) continue;
      const hasFocus = tile.item.contains(focused);
      const place = hasFocus && this.find(tile.photo);
      if (place) {
        this.#placeTile(tile, place);
        continue;
      }
      if (hasFocus) lost = tile.photo;
      tile.remove();
      this.#tiles.delete(id);
    }
    if (lost) this.#focusNear(lost);
    images.want(urgent);
    const stop = this.active && this.tileOf(this.active);
    if (stop?.link.tabIndex !== 0 && urgent.length) this.activate(stop?.photo ?? urgent[0].photo);
  }

  /** Moves a tile that is kept outside of the mounted rows, because it has the focus. */
  #placeTile(tile, { part, index }) {
    const row = part.rows[this.#rowOf(part, index)];
    const { left, width } = cellsOf(row, part.ratios, this.#grid).find((cell) => cell.index === index);
    tile.place(left, part.top - this.#head + row.top, width, row.height);
  }

  /** Gives the focus of a deleted photo to the next one. */
  #focusNear({ t }) {
    const { part, index } = this.library.find(t) ?? {};
    const photo = part?.photos?.[index];
    if (!this.#tiles.has(photo?.id)) return;
    this.activate(photo);
    this.tileOf(photo).link.focus({ preventScroll: true });
  }

  /** Inserts a tile in the order of time, so that the order of the document is that of the timeline. */
  #insert(list, { item, photo }) {
    let next = list.lastElementChild;
    while (next && next.tile.photo.t < photo.t) next = next.previousElementSibling;
    if (next) next.after(item);
    else list.prepend(item);
  }

  #load(gaps, y) {
    const order = ({ isVisible, top }) => (isVisible ? 0 : top > y === this.#direction > 0 ? 1 : 2);
    gaps.sort((a, b) => order(a) - order(b));
    for (const { month, part, top } of gaps) {
      if (part.hasFailed) continue;
      if (!this.library.isFree) break;
      const inside = Math.min(part.height, Math.max(0, y - top)) / part.height;
      this.library.load(month, part, Math.max(0, inside * part.count - LEAD_PHOTOS));
    }
    const stale = this.library.months.find((month) => month.isStale && this.#sections.has(month.key));
    if (stale) this.library.reload(stale, this.#anchor?.time ?? stale.end);
  }

  // Places, for the keyboard and the selection.

  /** The tiles in the document. */
  get tiles() {
    return this.#tiles.values();
  }

  tileOf(photo) {
    return this.#tiles.get(photo.id);
  }

  sectionOf(month) {
    return this.#sections.get(month.key);
  }

  get sections() {
    return this.#sections;
  }

  /** The place of a loaded photo. */
  find(photo) {
    const place = this.library.find(photo.t);
    return place?.part.photos?.[place.index]?.id === photo.id ? place : undefined;
  }

  /** The part after or before another one. If it is a gap, loads it first. */
  async #neighbour({ month, part }, step) {
    const { months } = this.library;
    for (let tries = 0; tries < 3; tries += 1) {
      let [next, inMonth] = [month.parts[month.parts.indexOf(part) + step], month];
      if (!next) {
        inMonth = months[months.indexOf(month) + step];
        next = inMonth?.parts.at(step > 0 ? 0 : -1);
      }
      if (!next || next.photos) return next && { month: inMonth, part: next };
      await this.library.load(inMonth, next, step > 0 ? 0 : next.count, true);
    }
    return undefined;
  }

  /** Moves the focus to the first photo of the next older month. */
  async #skip(month) {
    const next = await this.#neighbour({ month, part: month.parts.at(-1) }, 1);
    if (next) this.focus({ ...next, index: 0 });
  }

  /** The place of the next (1) or previous (-1) photo. */
  async beside(place, step) {
    const index = place.index + step;
    if (place.part.photos[index]) return { ...place, index };
    const next = await this.#neighbour(place, step);
    return next && { ...next, index: step > 0 ? 0 : next.part.photos.length - 1 };
  }

  /** The place below (1) or above (-1) a photo. */
  async across(place, step) {
    const row = this.#rowOf(place.part, place.index);
    const middleOf = ({ left, width }) => left + width / 2;
    const cells = (part, row) => cellsOf(part.rows[row], part.ratios, this.#grid);
    const from = middleOf(cells(place.part, row).find(({ index }) => index === place.index));
    let next = { ...place, row: row + step };
    if (!place.part.rows[next.row]) {
      next = await this.#neighbour(place, step);
      if (!next) return undefined;
      this.#measureAll();
      next.row = step > 0 ? 0 : next.part.rows.length - 1;
    }
    const distance = (cell) => Math.abs(middleOf(cell) - from);
    const { index } = cells(next.part, next.row).reduce((best, cell) => (distance(cell) < distance(best) ? cell : best));
    return { month: next.month, part: next.part, index };
  }

  /** Scrolls until a place is in sight, and gives its photo the focus. */
  focus(place) {
    this.#measureAll();
    const photo = place.part.photos[place.index];
    const row = place.part.rows[this.#rowOf(place.part, place.index)];
    const top = this.topOf(place);
    const room = this.#head + 8;
    if (top < this.y + room) this.jump(top - room);
    else if (top + row.height > this.y + this.screen - room) this.jump(top + row.height - this.screen + room);
    this.activate(photo);
    this.render();
    this.tileOf(photo)?.link.focus({ preventScroll: true });
  }

  /** Makes a photo the tab stop of the grid. */
  activate(photo) {
    const old = this.active && this.tileOf(this.active);
    if (old) old.link.tabIndex = old.check.tabIndex = -1;
    this.active = photo;
    const tile = this.tileOf(photo);
    if (tile) tile.link.tabIndex = tile.check.tabIndex = 0;
  }
}
