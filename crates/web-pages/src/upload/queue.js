// The files to upload and what came of them. Several are sent at a time. When the same files are chosen again, an interrupted
// upload continues, also after the page was closed.
class UploadQueue {
  static #PARALLEL = 3;
  static #BATCH = 40;
  static #BATCH_BYTES = 64 * 2 ** 20;
  static #AHEAD = 80;
  static #WAITS_S = [0, 1, 3, 5, 10, 20, 30];
  static #MAX_TRIES = 20;
  /** After these outcomes a file can be added to the list again. */
  static #OPEN = ['refused', 'failed', 'cancelled'];

  /** All files that were chosen, by path, length and time. */
  items = new Map();
  active = new Set();
  /** The files with a reason why they were not uploaded, and the paths that could not be read. */
  problems = [];
  counts = { total: 0, bytes: 0, sent: 0, imported: 0, duplicate: 0, restored: 0, refused: 0, failed: 0, cancelled: 0, unreadable: 0 };
  isPaused = false;
  isSignedOut = false;
  isRunning = false;
  #toHash = [];
  #toSend = [];
  #isHashing = false;
  /** Rings when the connection has returned, or the person has continued or cancelled. */
  #wake = uploadBell();
  /** Rings when few files wait to be sent. */
  #drained = uploadBell();
  #memory;
  #sender;
  #maxBytes;
  #view;

  /** `view` has `changed()` for every change, `said(text)` for screen readers, `finished(item)` and `ended()`. */
  constructor({ account, maxBytes }, view) {
    this.#memory = new UploadMemory(account);
    this.#maxBytes = Number(maxBytes);
    this.#view = view;
    this.#sender = new UploadSender(this.#memory, this.#maxBytes, () => view.changed());
    addEventListener('online', () => {
      for (const item of this.active) item.tries = item.waits = 0;
      this.#wake.ring();
      view.changed();
    });
    addEventListener('offline', () => {
      if (this.isRunning) view.said('Waiting for the connection.');
      view.changed();
    });
  }

  /** The number of files that have an outcome. */
  get done() {
    const { imported, duplicate, restored, refused, failed, cancelled } = this.counts;
    return imported + duplicate + restored + refused + failed + cancelled;
  }

  /** The bytes that need not be sent any more. */
  get sent() {
    let sent = this.counts.sent;
    for (const item of this.active) sent += item.sent;
    return sent;
  }

  /** Adds files, each with its path, and the paths that could not be read. Returns how many files are new in the list. */
  add(files, unreadable, album) {
    let fresh = 0;
    for (const [file, path] of files) {
      const item = this.#enter(file, path, album);
      if (!item) continue;
      // The library does not say which photo has a known hash, so those for an album are sent again.
      (album ? this.#toSend : this.#toHash).push(item);
      fresh += 1;
    }
    for (const path of unreadable) {
      if (this.problems.some((item) => item.path === path && !item.file)) continue;
      this.counts.unreadable += 1;
      this.problems.push({ path, reason: 'The browser cannot read it.' });
    }
    if (fresh) this.#start();
    else this.#view.changed();
    return fresh;
  }

  /** Adds a file to the list. A file in the list is added again only if it was refused or cancelled, or if its upload failed. */
  #enter(file, path, album) {
    const key = `${path}:${file.size}:${file.lastModified}`;
    const former = this.items.get(key);
    if (former && !UploadQueue.#OPEN.includes(former.outcome)) return undefined;
    if (former) this.#remove(former);
    const item = { file, path, key, album, sent: 0, reached: 0, tries: 0, waits: 0 };
    this.items.set(key, item);
    this.counts.total += 1;
    this.counts.bytes += file.size;
    return item;
  }

  /** Removes a file with an outcome from the list. */
  #remove(item) {
    this.items.delete(item.key);
    this.problems = this.problems.filter((problem) => problem !== item);
    this.counts.total -= 1;
    this.counts.bytes -= item.file.size;
    this.counts.sent -= item.file.size;
    this.counts[item.outcome] -= 1;
  }

  #start() {
    this.isRunning = true;
    this.#view.changed();
    this.#hashAhead();
    this.#pump();
  }

  // Skipping what the library has.
  async #hashAhead() {
    if (this.#isHashing) return;
    this.#isHashing = true;
    while (this.#toHash.length) {
      while (this.isPaused || this.#toSend.length >= UploadQueue.#AHEAD) await this.#drained.wait();
      const batch = [];
      let bytes = 0;
      while (this.#toHash.length && batch.length < UploadQueue.#BATCH && bytes < UploadQueue.#BATCH_BYTES) {
        batch.push(this.#toHash.shift());
        bytes += batch.at(-1).file.size;
      }
      const hashes = new Map();
      for (const item of batch) {
        const hash = await UploadKnown.hash(item.file, this.#maxBytes, () => item.outcome);
        if (hash) hashes.set(hash, item);
      }
      for (const hash of await UploadKnown.known([...hashes.keys()])) {
        const item = hashes.get(hash);
        if (item) this.#finish(item, 'duplicate');
      }
      this.#toSend.push(...batch.filter((item) => !item.outcome));
      this.#pump();
    }
    this.#isHashing = false;
  }

  // Sending.
  #pump() {
    while (!this.isPaused && this.active.size < UploadQueue.#PARALLEL && this.#toSend.length) {
      const item = this.#toSend.shift();
      this.active.add(item);
      this.#send(item);
      this.#view.changed();
    }
    if (this.#toSend.length < UploadQueue.#AHEAD) this.#drained.ring();
  }

  async #send(item) {
    while (!item.outcome) {
      if (this.isPaused) {
        await this.#wake.wait();
        continue;
      }
      try {
        const { outcome, id } = await this.#sender.send(item);
        item.id ??= id;
        this.#finish(item, outcome);
      } catch (error) {
        if (error.isSignedOut) this.pause(true);
        if (item.outcome || this.isPaused) continue;
        if (error.isFinal) this.#finish(item, 'refused', error);
        else await this.#retry(item, error);
      }
    }
    this.#pump();
  }

  async #retry(item, error) {
    if (!(await item.file.slice(0, 1).arrayBuffer().catch(() => undefined))) {
      return this.#finish(item, 'failed', new Error('The browser cannot read it any more.'));
    }
    // Only responses of the server count as tries. A lost connection may last long, and is no fault of the file.
    if (item.isAnswered) item.tries += 1;
    if (item.tries > UploadQueue.#MAX_TRIES) return this.#finish(item, 'failed', error);
    const wait = UploadQueue.#WAITS_S[Math.min(item.waits, UploadQueue.#WAITS_S.length - 1)];
    item.waits += 1;
    item.trouble = error.message;
    this.#view.changed();
    await this.#wake.wait(wait * 1000);
  }

  #finish(item, outcome, error) {
    if (item.outcome) return;
    item.outcome = outcome;
    this.counts[outcome] += 1;
    this.counts.sent += item.file.size;
    this.active.delete(item);
    if (outcome !== 'failed') this.#sender.forget(item);
    item.isRetryable = outcome === 'failed' || Boolean(error?.isRetryable);
    if (error) {
      item.reason = error.message;
      this.problems.push(item);
    }
    this.#view.finished(item);
    this.#view.changed();
    if (this.done < this.counts.total) return;
    this.isRunning = false;
    this.#view.ended();
  }

  /** Empties the list. Nothing may be running. */
  clear() {
    this.items.clear();
    this.problems = [];
    for (const name of Object.keys(this.counts)) this.counts[name] = 0;
  }

  // Pausing, cancelling, trying again.
  pause(isSignedOut = false) {
    this.isPaused = true;
    this.isSignedOut ||= isSignedOut;
    for (const item of this.active) item.request?.abort();
    this.#view.said(this.isSignedOut ? 'You are signed out. Sign in in a new tab, then choose Continue.' : 'Paused.');
    this.#view.changed();
  }

  continue() {
    this.isPaused = this.isSignedOut = false;
    this.#view.changed();
    this.#wake.ring();
    this.#pump();
  }

  cancel() {
    this.#toHash.length = this.#toSend.length = 0;
    for (const item of [...this.items.values()].filter(({ outcome }) => !outcome)) {
      const { url } = item;
      this.#finish(item, 'cancelled');
      this.#sender.cancel(item, url);
    }
    this.continue();
  }

  /** Tries files again that were refused for now, or whose upload failed. */
  tryAgain(items = this.problems.filter(({ isRetryable }) => isRetryable)) {
    for (const { file, path, album } of items) {
      const item = this.#enter(file, path, album);
      // Nothing if it was tried again already.
      if (item) this.#toSend.push(item);
    }
    this.#start();
  }
}
