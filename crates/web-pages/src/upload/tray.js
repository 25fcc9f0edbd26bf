// The list of uploads at the edge of the window. Only a part of the files has rows, so that thousands of files do not slow the page
// down.
class UploadTray {
  static #DRAW_MS = 100;
  static #ROWS = 40;
  /** How many files with an outcome stay above the first without one. */
  static #KEPT = 6;
  static #REASONS = 100;
  /** Narrower and lower windows show one line at first. */
  static #NARROW = '(max-width: 40rem), (max-height: 30rem)';

  #drawing;
  #start = 0;
  #rows = new Map();
  #reasons = new Map();
  #pace = new UploadPace();
  #isReading = false;
  /** What stands above a remark if nothing was uploaded. */
  #headline = 'Nothing was uploaded.';

  /** `link` is the button of the header, `arrivals` knows which photos can be shown. */
  constructor(link) {
    this.link = link;
    this.announcer = make('p', { id: 'upload-status', className: 'unseen', role: 'status' });
    this.summary = make('p', { id: 'upload-summary' });
    this.bar = make('progress', { max: 1, value: 0 });
    this.bar.setAttribute('aria-labelledby', 'upload-summary');
    this.toggle = make('button', { type: 'button', className: 'bare toggle', ariaLabel: 'Details', onclick: () => this.#fold(!this.details.hidden) }, makeIcon(UPLOAD_ICONS.more));
    this.toggle.setAttribute('aria-controls', 'upload-details');
    this.close = make('button', { type: 'button', className: 'bare', ariaLabel: 'Close', onclick: () => this.dismiss() }, makeIcon(UPLOAD_ICONS.close));
    const href = `/sign-in?return_to=${encodeURIComponent(location.pathname + location.search)}`;
    this.signIn = make('p', { hidden: true, className: 'notice warn' }, 'You are signed out. ',
      make('a', { href, target: '_blank', rel: 'noopener', textContent: 'Sign in' }), ' in a new tab, then choose Continue here.');
    this.note = make('p', { hidden: true, className: 'notice' });
    this.pause = makeButton('Pause', () => this.#pause());
    this.cancel = makeButton('Cancel', () => this.#cancel());
    this.again = makeButton('Try all again', () => this.#tryAgain());
    this.before = make('p', { className: 'rest' });
    this.list = make('ul', { className: 'files' });
    this.after = make('p', { className: 'rest' });
    this.reasonsTitle = make('h2', { textContent: 'Not added' });
    this.reasonList = make('ul', { className: 'files reasons' });
    this.moreReasons = make('p', { className: 'rest' });
    this.hint = make('p', { className: 'hint', textContent: 'Stay on this page until all photos are sent. If it is closed, drop the same photos again: what has arrived is not sent twice.' });
    this.scroll = make('div', { className: 'scroll', role: 'group', ariaLabel: 'Files', tabIndex: 0 }, this.signIn, this.note, this.reasonsTitle, this.reasonList, this.moreReasons,
      this.before, this.list, this.after, this.hint);
    this.details = make('div', { id: 'upload-details' }, make('div', { className: 'buttons' }, this.pause, this.cancel, this.again), this.scroll);
    const head = make('div', { className: 'head' }, this.summary, this.toggle, this.close, this.bar);
    this.element = make('section', { id: 'tray', ariaLabel: 'Upload' }, head, this.details);
    this.thumbnails = new UploadThumbnails(this.scroll);
    this.#fold(matchMedia(UploadTray.#NARROW).matches);
  }

  get #isDone() {
    return !this.queue.isRunning;
  }

  // What the queue reports.

  said(text) {
    this.announcer.textContent = text;
  }

  changed() {
    this.#drawing ??= setTimeout(() => {
      this.#drawing = undefined;
      this.#draw();
    }, UploadTray.#DRAW_MS);
  }

  finished(item) {
    if (item.id) this.arrivals.expect(item);
  }

  ended() {
    this.#pace.stop();
    this.said(`Finished: ${UploadWords.outcome(this.queue.counts)}.`);
  }

  // What people do.

  /** Says that folders are being read. */
  read() {
    this.#isReading = true;
    this.#open();
    this.changed();
  }

  /** Adds files, and the paths that could not be read, to the list, and photos to an album if there is one. */
  add({ files, unreadable }, album) {
    this.#isReading = false;
    this.#headline = 'Nothing was uploaded.';
    const sorted = UploadChoice.sort(files);
    const fresh = this.queue.add(sorted.photos, unreadable, album);
    const leftOut = UploadChoice.leftOut(sorted);
    const isListed = !fresh && sorted.photos.length > 0;
    const isEmpty = !fresh && !isListed && !unreadable.length && !leftOut;
    const remark = isListed ? 'These photos are in the list already.' : isEmpty ? 'No files were found.' : '';
    this.#explain([remark, leftOut].filter(Boolean).join(' '), Boolean(leftOut));
    this.#open();
    const to = album ? ` to “${album.title}”` : '';
    if (fresh) this.#begin(`Uploading ${uploadPhotos(fresh)}${to}. ${leftOut}`.trim());
    this.changed();
  }

  #begin(text) {
    this.element.dataset.state = 'sending';
    this.said(text);
  }

  /** Says that the page of an upload was left before its end. */
  resume({ done, total }) {
    const choose = makeButton('Choose photos', () => this.link.click());
    this.#explain(`The upload stopped because its page was left: ${uploadNumber.format(done)} of ${uploadPhotos(total)} were done. Choose or drop the same photos again to go on. What has arrived is not sent twice. `);
    this.note.append(choose);
    this.#headline = 'The upload stopped.';
    this.#open();
    this.#fold(false);
    this.changed();
  }

  /** Shows a remark. If files were left out, it leads to the steps that import an export. */
  #explain(remark, isLeftOut = false) {
    this.note.hidden = !remark;
    this.note.textContent = remark;
    if (!remark) return;
    if (isLeftOut) {
      const steps = document.getElementById('exports');
      const onclick = () => {
        if (steps) steps.open = true;
      };
      const place = steps ? {} : { target: '_blank' };
      this.note.append(' ', make('a', { href: '/account/sync#exports', textContent: 'See the steps', onclick, ...place }), '.');
    }
    this.said(this.note.textContent);
    this.#fold(false);
  }

  /** Says that photos were not added to an album. */
  warn(text) {
    this.#headline = 'Some photos are not in the album.';
    this.#explain(text);
    this.#open();
    this.changed();
  }

  #open() {
    if (this.element.isConnected) return;
    this.#draw();
    document.body.append(this.element);
  }

  #fold(isFolded) {
    this.details.hidden = isFolded;
    this.toggle.ariaExpanded = String(!isFolded);
  }

  dismiss() {
    this.element.remove();
    this.note.hidden = true;
    this.#start = 0;
    for (const [rows, list] of [[this.#rows, this.list], [this.#reasons, this.reasonList]]) {
      rows.clear();
      list.replaceChildren();
    }
    this.shown = [];
    this.queue.clear();
    this.arrivals.clear();
    this.dismissed();
    // On the page of a photo the link is not shown.
    (this.link.checkVisibility() ? this.link : document.getElementById('back'))?.focus();
  }

  #pause() {
    if (!this.queue.isPaused) return this.queue.pause();
    this.said('Uploading.');
    this.queue.continue();
  }

  #cancel() {
    this.queue.cancel();
    this.close.hidden = false;
    this.close.focus();
  }

  #tryAgain(items) {
    this.#begin('Uploading.');
    this.queue.tryAgain(items);
    this.pause.hidden = false;
    this.pause.focus();
  }

  // Drawing.

  #draw() {
    const { queue } = this;
    const isDone = this.#isDone;
    this.element.dataset.state = isDone ? (this.#isReading ? 'reading' : 'done') : queue.isPaused ? 'paused' : 'sending';
    const left = isDone || queue.isPaused ? this.#pace.stop() : this.#pace.left(queue.sent, queue.counts.bytes);
    setText(this.summary, this.#summary(left));
    this.bar.value = isDone ? 1 : queue.counts.bytes ? queue.sent / queue.counts.bytes : 0;
    this.close.hidden = !isDone;
    // The button with the focus is hidden next.
    if (isDone && [this.pause, this.cancel].includes(document.activeElement)) this.close.focus();
    this.bar.hidden = this.pause.hidden = this.cancel.hidden = this.hint.hidden = isDone;
    setText(this.pause, queue.isPaused ? 'Continue' : 'Pause');
    this.signIn.hidden = !queue.isSignedOut;
    this.again.hidden = !isDone || queue.problems.filter(({ isRetryable }) => isRetryable).length < 2;
    this.#drawReasons();
    this.#drawRows();
    this.drawn();
  }

  #summary(left) {
    const { counts, done, isPaused, isRunning } = this.queue;
    if (this.#isReading && !isRunning) return 'Looking for photos…';
    const outcome = UploadWords.outcome(counts);
    if (!isRunning) return outcome ? `${outcome}.` : this.#headline;
    const trouble = [...this.queue.active].find(({ waits }) => waits > 2)?.trouble;
    const state = isPaused ? 'Paused.' : !navigator.onLine ? 'Waiting for the connection.' : trouble ? `Trying again. ${trouble}` : '';
    const numbers = `${uploadNumber.format(done)} of ${uploadNumber.format(counts.total)}`;
    return `${state} ${numbers}${left === undefined ? '' : ` · ${UploadWords.left(left)}`}`.trim();
  }

  #drawReasons() {
    const { problems } = this.queue;
    const shown = problems.slice(0, UploadTray.#REASONS);
    for (const [item, row] of this.#reasons) {
      if (shown.includes(item)) continue;
      row.remove();
      this.#reasons.delete(item);
    }
    for (const item of shown) {
      if (this.#reasons.has(item)) continue;
      const row = this.#row(item);
      setText(row.state, item.reason);
      if (item.isRetryable) {
        const again = makeButton('Try again', () => this.#tryAgain([item]));
        again.ariaLabel = `Try again: ${item.path}`;
        row.append(again);
      }
      this.#reasons.set(item, row);
      this.reasonList.append(row);
    }
    this.reasonsTitle.hidden = !shown.length;
    this.#drawRest(this.moreReasons, problems.length - shown.length);
  }

  #drawRest(line, count) {
    line.hidden = count <= 0;
    if (count > 0) setText(line, `and ${uploadNumber.format(count)} more`);
  }

  #drawRows() {
    const items = [...this.queue.items.values()].filter(({ reason }) => !reason);
    const waiting = items.findIndex(({ outcome }) => !outcome);
    const wanted = (waiting < 0 ? items.length : waiting) - UploadTray.#KEPT;
    // The row with the focus stays.
    const start = Math.max(0, Math.min(wanted, items.length - UploadTray.#ROWS));
    if (!this.list.contains(document.activeElement)) this.#start = start;
    const shown = items.slice(this.#start, this.#start + UploadTray.#ROWS);
    this.shown = shown;
    for (const [item, row] of this.#rows) {
      if (shown.includes(item)) continue;
      this.thumbnails.forget(row.picture);
      row.remove();
      this.#rows.delete(item);
    }
    let next = this.list.firstChild;
    for (const item of shown) {
      const row = this.#rows.get(item) ?? this.#row(item);
      this.#rows.set(item, row);
      if (row === next) next = next.nextSibling;
      else this.list.insertBefore(row, next);
      this.#update(row, item);
    }
    this.#drawRest(this.before, this.#start);
    this.#drawRest(this.after, items.length - this.#start - shown.length);
  }

  #row({ file, path }) {
    const picture = make('span', { className: 'picture' }, makeIcon(UPLOAD_ICONS.photo), make('canvas', { hidden: true, width: 1, height: 1 }));
    const state = make('p', { className: 'state' });
    const row = make('li', {}, picture, make('div', {}, make('p', { className: 'name', textContent: path }), state));
    if (file) this.thumbnails.watch(picture, file);
    return Object.assign(row, { picture, state });
  }

  #update(row, item) {
    const isActive = this.queue.active.has(item);
    if (isActive && !row.bar) {
      row.bar = make('progress', { max: 1, value: 0, ariaLabel: item.path });
      row.state.replaceWith(row.bar);
    } else if (!isActive && row.bar) {
      row.bar.replaceWith(row.state);
      row.bar = undefined;
    }
    if (isActive) row.bar.value = item.file.size ? item.sent / item.file.size : 0;
    else setText(row.state, UploadWords.state(item) ?? 'Waiting');
    if (!item.isThere || row.link) return;
    row.link = make('a', { href: `/photos/${item.id}`, textContent: 'Show', ariaLabel: `Show ${item.path}` });
    // Leaving the page would stop the upload.
    row.link.onclick = () => { row.link.target = this.#isDone ? '' : '_blank'; };
    row.append(row.link);
  }
}
