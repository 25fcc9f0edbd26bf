// Finds out which of the uploaded photos can be shown, and adds photos to the album that they were dropped on.
class UploadArrivals {
  static #LOOK_MS = 1000;
  static #MAX_LOOK_MS = 15_000;
  static #AT_ONCE = 50;
  /** After these statuses, the same photos can be added later. */
  static #LATER = [401, 429, 500, 502, 503, 504];

  #expected = new Set();
  #timer;
  #isLooking = false;
  #pause = UploadArrivals.#LOOK_MS;
  #tray;

  constructor(tray) {
    this.#tray = tray;
    document.addEventListener('visibilitychange', () => this.#lookLater());
  }

  /** Whether photos still have to be added to an album. */
  get isBusy() {
    return [...this.#expected].some(({ album }) => album);
  }

  /** Waits for a photo. Others than those for an album only count while the list shows them. */
  expect(item) {
    this.#expected.add(item);
    // The time of the next look stays, so that it comes while further photos arrive.
    if (this.#timer && this.#pause === UploadArrivals.#LOOK_MS) return;
    this.#pause = UploadArrivals.#LOOK_MS;
    this.#lookLater();
  }

  /** Forgets the photos of an emptied list, but not those for an album. */
  clear() {
    for (const item of this.#expected) if (!item.album) this.#expected.delete(item);
  }

  #lookLater() {
    clearTimeout(this.#timer);
    this.#timer = this.#expected.size ? setTimeout(() => this.#look(), this.#pause) : undefined;
  }

  async #look() {
    this.#timer = undefined;
    const isWanted = (item) => item.album || (!document.hidden && this.#tray.shown?.includes(item));
    const wanted = [...this.#expected].filter(isWanted).slice(0, UploadArrivals.#AT_ONCE);
    if (!wanted.length || this.#isLooking) return;
    this.#isLooking = true;
    const ids = wanted.map(({ id }) => id);
    const answer = await fetch(`/web/timeline?photos=${ids}`).catch(() => undefined);
    const { there = [], reading } = answer?.ok ? await answer.json() : {};
    const arrived = wanted.filter(({ id }) => there.includes(id));
    for (const item of arrived) item.isThere = true;
    await this.#addToAlbums(arrived.filter(({ album }) => album));
    for (const item of arrived) if (!item.album || item.isInAlbum) this.#expected.delete(item);
    // A photo that was read and is not there could not be read, or is hidden.
    if (reading === 0) for (const item of wanted) if (!item.isThere) this.#giveUp(item);
    if (arrived.length) this.#pause = UploadArrivals.#LOOK_MS;
    else this.#pause = Math.min(this.#pause * 1.5, UploadArrivals.#MAX_LOOK_MS);
    this.#isLooking = false;
    this.#tray.changed();
    this.#lookLater();
  }

  /** The first time, the photo may have been read between the two answers of the library. */
  #giveUp(item) {
    if (item.isOverdue) this.#drop(item.album, [item]);
    item.isOverdue = true;
  }

  #drop(album, items) {
    for (const item of items) this.#expected.delete(item);
    if (album) this.#tray.warn(`${uploadPhotos(items.length)} could not be added to “${album.title}”. You find them in the timeline, or among the problems.`);
  }

  /** Adds photos to their albums. Those that cannot be added now stay expected. */
  async #addToAlbums(items) {
    for (const album of new Set(items.map((item) => item.album))) {
      const photos = items.filter((item) => item.album === album);
      let status = await this.#add(album, photos);
      // After a new sign-in, the form of the page is of the former session.
      if (status === 403 && (await this.#renew(album))) status = await this.#add(album, photos);
      if (status === 200) for (const item of photos) item.isInAlbum = true;
      else if (status && !UploadArrivals.#LATER.includes(status)) this.#drop(album, photos);
    }
  }

  /** Returns the status of the answer, or nothing without one. */
  async #add(album, photos) {
    const body = JSON.stringify({ token: album.token, action: 'add_to_album', album: album.id, ids: photos.map(({ id }) => id) });
    const answer = await fetch('/web/selection', { method: 'POST', headers: { 'Content-Type': 'application/json' }, body }).catch(() => undefined);
    return answer?.status;
  }

  /** Takes the form of the present session from the page of the album. Returns whether there is one. */
  async #renew(album) {
    const page = await fetch(`/albums/${album.id}`).then((answer) => answer.text(), () => '');
    const { token } = new DOMParser().parseFromString(page, 'text/html').getElementById('album')?.dataset ?? {};
    const isNew = Boolean(token) && token !== album.token;
    if (isNew) album.token = token;
    return isNew;
  }
}
