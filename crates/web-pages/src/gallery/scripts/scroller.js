// The timeline as a list of months. Only the months in sight are in the document.
//
// A position `y` is a distance in pixels from the top of the timeline. Browsers limit the height of a document, so the document
// shows a timeline higher than MAX_WHOLE_PX in a window that begins at the position `#base`. Months that are not loaded have
// estimated heights. When the width or a height above changes, the photo in sight keeps its place: during a scroll only `#base`
// changes, so that the scroll is not disturbed. The scroll position is corrected when the scroll has ended.

/** A higher timeline is shown in windows of WINDOW_PX. */
const MAX_WHOLE_PX = 8e6;
const WINDOW_PX = 4e6;
/** Number of screens above and below the visible one whose photos are in the document. */
const AHEAD = 1;
const MAX_TILES = 330;
/** New elements per frame. */
const MAX_NEW_TILES = 12;
const FAST_SCREENS_PER_S = 3;
const REST_MS = 120;
const MONTH_GAP_PX = 24;
/** Rows of a month in which a day begins, at most, in an estimate. */
const DAY_ROWS = 20;
/** A page that is loaded inside a gap begins this many photos above the visible ones. */
const LEAD_PHOTOS = 60;

class Scroller {
  #root;
  #grid;
  #base = 0;
  #docTop = 0;
  /** Height of the whole timeline. */
  height = 0;
  #head;
  #anchor;
  #sections = new Map();
  #tiles = new Map();
  #frame;
  #rest;
  #last = { y: 0, at: 0 };
  #expected;
  /** The photo with the tab stop. */
  active;
  /** The position that is drawn. Reading `y` after a change of the document would force a layout. */
  shownY = 0;

  /**
   * `adopted()` is called once, for the photos that the server rendered, `changed()` when the photos in sight change, and
   * `painted(tile)` for each new tile.
   */
  constructor(root, { adopted, changed, painted, failed }) {
    Object.assign(this, { adopted, changed, painted });
    this.#root = root;
    this.library = new Library(() => this.relayout(), failed);
    images.completed = () => this.draw();
    this.#measureWindow();
    const { at } = root.dataset;
    if (at) this.#anchor = { time: Number(at), offset: history.state?.offset ?? this.#room };
  }

  /** Loads the months and takes over the photos that the server rendered. */
  async start() {
    await this.library.refresh();
    const sections = [...this.#root.querySelectorAll('section.month')];
    const lists = sections.map((section) => {
      const photos = Array.from(section.querySelectorAll('li'), (item) => {
        const { id, t, r, v, h, place } = item.dataset;
        const photo = { id, t: Number(t), r: Number(r), v, h, place, alt: item.querySelector('img').alt };
        this.#tiles.set(id, new Tile(photo, item));
        return photo;
      });
      return [Number(section.dataset.month), photos];
    });
    this.library.adopt(lists, !this.#root.dataset.at);
    // The library may have changed since the server rendered the page.
    const isOld = this.#root.dataset.gen !== this.library.generation;
    for (const month of this.library.months) month.isStale = isOld && month.pages.length > 0;
    for (const section of sections) this.#sections.set(Number(section.dataset.month), this.#sectionParts(section));
    this.adopted();
    // Removes the text that says that this page has no photos, because other pages have some.
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
    const bar = barHeight();
    this.#docTop = this.#root.getBoundingClientRect().top + scrollY - bar;
    this.#head = this.#root.querySelector('h2')?.offsetHeight ?? 48;
    this.screen = innerHeight - bar;
  }

  #resized() {
    const { width } = this.#grid;
    this.#measureWindow();
    if (this.#grid.width === width) return this.render();
    this.#layOut();
  }

  #layOut() {
    for (const part of this.library.months.flatMap(({ parts }) => parts)) part.rows = undefined;
    this.relayout();
  }

  /** Makes the photos larger (1) or smaller (-1), around a tile, by default that with the focus. The browser keeps the choice. */
  scale(step, tile = tileAt(document.activeElement)) {
    if (!setPhotoSize(photoSize + step)) return;
    announce(step > 0 ? 'Larger photos' : 'Smaller photos');
    const place = tile && this.find(tile.photo);
    if (place) this.#anchor = { time: tile.photo.t, offset: this.topOf(place) - this.y };
    this.#measureWindow();
    this.#layOut();
  }

  // Heights.

  /** Height of a part, and the rows of its photos. */
  #measure(month, part) {
    const { width, target, gap, day } = this.#grid;
    if (!part.photos) {
      const rows = Math.ceil((part.count * month.gapRatio * target) / width);
      return rows * (target + gap) + Math.min(rows, DAY_ROWS) * day;
    }
    const isLast = part === month.parts.at(-1);
    const before = month.parts[month.parts.indexOf(part) - 1]?.photos?.at(-1);
    if (!part.rows || part.isLast !== isLast || part.before !== before) {
      const ratios = part.photos.map(({ r }) => r);
      if (part.named !== part.photos.length || part.before !== before) part.days = daysOf(part.photos, before);
      const rows = rowsOf(ratios, this.#grid, part.days, !isLast);
      Object.assign(part, { ratios, isLast, before, rows, named: part.photos.length });
    }
    const { top, height } = part.rows.at(-1);
    return top + height + gap;
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
    this.height = top;
  }

  /** The position at the top of the window, below the header. */
  get y() {
    return scrollY - this.#docTop + this.#base;
  }

  /** The month at a position. */
  monthAt(y) {
    const { months } = this.library;
    return months[Math.max(0, indexOfFirst(months, ({ top }) => top <= y) - 1)];
  }

  /** The index of the row of a photo among the rows of its page. */
  #rowOf({ part, index }) {
    return indexOfFirst(part.rows, ({ to }) => to <= index);
  }

  /** The cells of a row, relative to the list of their month. */
  #cells(part, row) {
    const top = part.top - this.#head + row.top;
    return cellsOf({ ...row, top }, part.ratios, this.#grid);
  }

  /** The cell of a loaded photo. */
  #cellOf(place) {
    const { part, index } = place;
    const row = part.rows[this.#rowOf(place)];
    return this.#cells(part, row)[index - row.from];
  }

  /** The position of a place `{ month, part, index }`: the upper edge of its photo. */
  topOf(place) {
    const { month, part, index } = place;
    const { top, line } = part.photos ? part.rows[this.#rowOf(place)] : { top: (index / part.count) * part.height, line: this.#grid.day };
    return month.top + part.top + top + line;
  }

  /** The space above a photo for the headings of its month and day. */
  get #room() {
    return this.#head + this.#grid.day;
  }

  /** The place at a position: the first photo of the row there, or a share of a gap. */
  placeAt(y) {
    const month = this.monthAt(y);
    if (!month) return undefined;
    const part = month.parts.findLast(({ top }) => month.top + top <= y) ?? month.parts[0];
    const offset = y - month.top - part.top;
    if (!part.photos) return { month, part, index: clamp(offset / part.height, 0, 1) * part.count };
    const row = part.rows[indexOfFirst(part.rows, ({ top, height }) => top + height <= offset)] ?? part.rows.at(-1);
    return { month, part, index: row.from };
  }

  /** The time at a position; between photos that are not loaded, an estimate. */
  timeAt(y) {
    return this.#timeOf(this.placeAt(y));
  }

  #timeOf({ month, part, index }) {
    if (part.photos) return part.photos[index].t;
    const { above, below } = month.limits(part);
    const first = above - Math.min(0.5, (above - below) / 2);
    return first - (index / part.count) * (first - below);
  }

  // The anchor.

  /** Sets the anchor: the photo at the top of the window, below the header. The top of the page has no anchor, so that new photos appear there. */
  #setAnchor() {
    const { y } = this;
    const place = y > 0 && this.placeAt(y + this.#head);
    // At the end of the timeline, the anchor keeps the distance to the end.
    const rest = y + this.screen > this.height - 1 && this.height - y;
    this.#anchor = place && { time: this.#timeOf(place), offset: this.topOf(place) - y, rest, isGuess: !place.part.photos };
  }

  /** The time of the first visible photo, if the page is not at its top. */
  get time() {
    return this.#anchor?.time;
  }

  #restLater() {
    this.#rest ??= setTimeout(() => this.#rested(), REST_MS);
  }

  /** Measures all heights, keeps the anchor at its place in the window, and draws. */
  relayout() {
    this.#measureAll();
    const place = this.#anchor && this.library.find(this.#anchor.time);
    if (this.#anchor?.rest) this.#base = Math.round(this.height - this.#anchor.rest + this.#docTop - scrollY);
    else if (place) this.#base = Math.round(this.topOf(place) + this.#docTop - scrollY - this.#anchor.offset);
    else if (this.height <= MAX_WHOLE_PX) this.#base = 0;
    const isFound = this.#anchor?.isGuess && place?.part.photos;
    if (isFound) {
      // The time of the anchor was estimated. It becomes the time of the first photo of its row.
      const { photos, rows } = place.part;
      Object.assign(this.#anchor, { time: photos[rows[this.#rowOf(place)].from].t, isGuess: false });
    }
    this.#rebase();
    if (this.#anchor?.rest) this.#setAnchor();
    if (isFound || this.#anchor?.rest) this.#restLater();
    this.render();
  }

  /** Moves the window of the document if the position is near one of its ends: after a scroll, or at once if it is very near. */
  #rebase() {
    const { y, screen } = this;
    const [base, size] = [this.#base, this.#windowSize];
    const last = this.height - size;
    const [above, below] = [y - base, base + size - y];
    const margin = size < this.height ? size / 8 : 0;
    const isNearEnd = (base > 0 && above < margin) || (base < last && below < margin);
    const mustMove = base < 0 || base > last || isNearEnd;
    const isAtEdge = above < screen * 2 || below < screen * 3;
    this.#setBase(mustMove && (!this.#rest || isAtEdge) ? this.#baseFor(y) : base, y);
  }

  /** Height of the window of the document. */
  get #windowSize() {
    return this.height <= MAX_WHOLE_PX ? this.height : WINDOW_PX;
  }

  /** The base of a window that has this position in its middle. */
  #baseFor(y) {
    const size = this.#windowSize;
    return Math.round(clamp(y - size / 2, 0, this.height - size));
  }

  /** Sets the base, and scrolls to this position. */
  #setBase(base, y) {
    this.#base = base;
    const most = this.height <= MAX_WHOLE_PX ? Infinity : WINDOW_PX;
    this.#root.style.height = `${Math.min(this.height - base, most)}px`;
    const to = Math.max(0, y + this.#docTop - base);
    if (Math.abs(to - scrollY) < 0.5) return;
    scrollTo({ top: to, behavior: 'instant' });
    this.#expected = scrollY;
  }

  /** Scrolls to a position. */
  jump(y) {
    const to = Math.max(-this.#docTop, Math.min(y, this.height - this.screen + MONTH_GAP_PX));
    this.#setBase(this.#baseFor(to), to);
    this.#moved();
    this.#expected = scrollY;
  }

  /** Scrolls to the photos of a time. When they have been loaded, the photo of that time is at the top. */
  jumpTo(time) {
    const place = this.library.find(time);
    if (!place) return;
    this.jump(this.topOf(place) - this.#room);
    this.#anchor = { time, offset: this.#room, isGuess: true };
    this.#expected = scrollY;
  }

  // Scrolling.

  #scrolled() {
    // This script caused the event.
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
    this.#last = { y, at: now };
    this.#setAnchor();
    this.#rest = clearTimeout(this.#rest);
    this.#restLater();
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

  /** Stores the place in the history entry, so that Back and reload lead to it. */
  saveState() {
    const query = this.#anchor ? `?at=${this.#anchor.time}` : '';
    const state = { offset: this.#anchor?.offset, active: this.active?.id };
    history.replaceState(state, '', location.pathname + query);
  }

  /** Draws in the next frame. */
  draw() {
    this.#frame ??= requestAnimationFrame(() => this.render());
  }

  // Drawing.

  #sectionParts(section) {
    const [list, check] = ['ul', '.all input'].map((selector) => section.querySelector(selector));
    const button = makeButton('', () => {}, 'load quiet');
    list.before(button);
    return { section, list, check, button };
  }

  #makeSection(month) {
    const check = make('input', { type: 'checkbox', name: 'range', value: `${month.from}:${month.end}` });
    const all = make('label', { className: 'all' }, check, ` Select all of ${month.name}`);
    const properties = { className: 'month', ariaLabel: month.name };
    return this.#sectionParts(make('section', properties, make('h2', {}, month.name), all, make('ul', { className: 'rows' })));
  }

  /** Mounts what is within AHEAD screens of the window, and removes the rest. */
  render() {
    this.#frame = cancelAnimationFrame(this.#frame);
    const { months } = this.library;
    const { y, screen } = this;
    this.shownY = y;
    const [from, to] = [y - AHEAD * screen, y + (1 + AHEAD) * screen];
    /** The distance from the window; 0 in sight. Nearer rows and gaps have priority. */
    const distanceOf = (top, height) => Math.max(0, top - y - screen, y - top - height);
    const [shown, rows, gaps] = [[], [], []];
    for (let place = months.indexOf(this.monthAt(from)); months[place]?.top < to; place += 1) {
      const month = months[place];
      shown.push(month);
      for (const part of month.parts) {
        const top = month.top + part.top;
        if (top > to || top + part.height < from) continue;
        if (part.photos) this.library.use(part);
        else gaps.push({ month, part, top, distance: distanceOf(top, part.height) });
        for (const row of part.rows ?? []) {
          const { height } = row;
          const rowTop = top + row.top;
          if (rowTop < to && rowTop + height > from) rows.push({ month, part, row, distance: distanceOf(rowTop, height) });
        }
      }
    }
    const focused = tileAt(document.activeElement);
    this.#mount(shown);
    this.#mountTiles(rows, focused);
    if (!images.isPaused) this.#load(gaps, y);
    this.library.keepRequests((month) => month.top < to + 2 * screen && month.top + month.height > from - 2 * screen);
    this.changed();
  }

  #mount(shown) {
    const { months } = this.library;
    for (const [key, { section }] of this.#sections) {
      const month = months.find((month) => month.key === key);
      if (shown.includes(month)) continue;
      if (month && section.contains(document.activeElement)) shown.push(month);
      else {
        section.remove();
        this.#sections.delete(key);
      }
    }
    let previous;
    for (const month of shown.sort((a, b) => b.key - a.key)) {
      const parts = this.#sections.get(month.key) ?? this.#makeSection(month);
      this.#sections.set(month.key, parts);
      const { section, list, button } = parts;
      if (!section.isConnected || section.previousElementSibling !== (previous ?? null)) {
        if (previous) previous.after(section);
        else this.#root.prepend(section);
      }
      previous = section;
      section.style.top = `${month.top - this.#base}px`;
      section.style.height = `${month.height}px`;
      list.style.height = `${month.height - this.#head - MONTH_GAP_PX}px`;
      const isEmpty = !month.pages.length;
      const failed = month.parts.find((part) => part.hasFailed && !part.photos);
      const missing = failed ?? (isEmpty && month.parts[0]);
      const older = months[months.indexOf(month) + 1];
      section.classList.toggle('waiting', month.pages.length < month.parts.length);
      button.hidden = !missing && !older;
      button.classList.toggle('failed', Boolean(failed));
      button.textContent = missing ? `Load ${month.name} (${numberFormat.format(month.count)})` : `Skip to ${older?.name}`;
      button.onclick = () => (missing ? this.library.load(month, missing, 0, true) : this.#skip(month));
    }
  }

  #mountTiles(rows, focused) {
    const kept = focused && this.find(focused.photo);
    const active = this.active && this.find(this.active);
    const wanted = new Set();
    let created = 0;
    // The row with the tab stop comes first, because it may get the focus now.
    const isActive = ({ part, row }) => part === active?.part && row.from <= active.index && active.index < row.to;
    rows.sort((a, b) => isActive(b) - isActive(a) || a.distance - b.distance);
    for (const { month, part, row, distance } of rows) {
      if (distance && wanted.size + row.to - row.from > MAX_TILES) break;
      const { list } = this.#sections.get(month.key);
      for (const cell of this.#cells(part, row)) {
        const photo = part.photos[cell.index];
        let tile = this.#tiles.get(photo.id);
        if (!tile) {
          // The remaining tiles are created in the next frames.
          if (created === MAX_NEW_TILES) {
            this.draw();
            continue;
          }
          tile = new Tile(photo);
          this.#tiles.set(photo.id, tile);
          created += 1;
          this.painted(tile);
        }
        tile.photo = photo;
        tile.isVisible = !distance;
        wanted.add(tile);
        tile.place(cell);
        if (tile.item.parentNode !== list) this.#insert(list, tile);
      }
    }
    for (const tile of this.#tiles.values()) {
      if (wanted.has(tile) || (tile === focused && kept)) continue;
      tile.remove();
      this.#tiles.delete(tile.photo.id);
    }
    // A tile with the focus stays in the document, also outside of the mounted rows.
    if (kept) focused.place(this.#cellOf(kept));
    else if (focused) this.#focusNear(focused.photo);
    images.want([...wanted]);
    if (wanted.size) this.activate((this.#stop ?? [...wanted][0]).photo);
  }


  /** Moves the focus from a deleted photo to the next one. */
  #focusNear({ t }) {
    const { part, index } = this.library.find(t) ?? {};
    this.focusTile(part?.photos?.[index].id);
  }

  /** Inserts a tile in the order of time, so that the order of the document is that of the timeline. */
  #insert(list, { item, photo }) {
    let next = list.lastElementChild;
    while (next && next.tile.photo.t < photo.t) next = next.previousElementSibling;
    if (next) next.after(item);
    else list.prepend(item);
  }

  #load(gaps, y) {
    gaps.sort((a, b) => a.distance - b.distance);
    for (const { month, part, top, distance } of gaps) {
      // Gaps outside of the window wait until the images in sight are complete.
      if (part.hasFailed || (distance && images.isBusy)) continue;
      if (!this.library.isFree) break;
      const inside = clamp((y - top) / part.height, 0, 1);
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

  /** The tile with the tab stop. */
  get #stop() {
    return this.#tiles.get(this.active?.id);
  }

  /** The elements of the months in the document. */
  get sections() {
    return this.#sections.values();
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
    const row = this.#rowOf(place);
    const middleOf = ({ left, width }) => left + width / 2;
    const from = middleOf(this.#cellOf(place));
    let next = place;
    let nextRow = place.part.rows[row + step];
    if (!nextRow) {
      next = await this.#neighbour(place, step);
      if (!next) return undefined;
      this.#measureAll();
      nextRow = next.part.rows.at(step > 0 ? 0 : -1);
    }
    const distance = (cell) => Math.abs(middleOf(cell) - from);
    const [{ index }] = this.#cells(next.part, nextRow).sort((a, b) => distance(a) - distance(b));
    return { ...next, index };
  }

  /** Scrolls until a place is in sight, and gives its photo the focus. */
  focus(place) {
    this.#measureAll();
    const photo = place.part.photos[place.index];
    const row = place.part.rows[this.#rowOf(place)];
    const top = this.topOf(place);
    const end = top + row.height - row.line;
    const room = this.#room + 8;
    if (top < this.y + room) this.jump(top - room);
    else if (end > this.y + this.screen - room) this.jump(end - this.screen + room);
    this.activate(photo);
    this.render();
    this.focusTile(photo.id);
  }

  /** Gives the focus to a photo that is in the document. */
  focusTile(id) {
    const tile = this.#tiles.get(id);
    if (!tile) return;
    this.activate(tile.photo);
    tile.link.focus({ preventScroll: true });
  }

  /** Makes a photo the tab stop of the grid. */
  activate(photo) {
    this.#stop?.setTabIndex(-1);
    this.active = photo;
    this.#stop?.setTabIndex(0);
  }
}
