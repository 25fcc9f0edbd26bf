// Addresses of pictures stop working after a quarter of an hour. New ones are asked for shortly before, and when a
// picture does not come.

/** How long before the end new addresses are asked for. */
const AHEAD_MS = 60_000;
/** What is believed where the clock of this device and the library's do not agree. */
const LIFETIME_MS = 14 * 60_000;
const LONGEST_LIFETIME_MS = 24 * 60 * 60_000;
/** Before the second, third and fourth try. */
const PAUSES_MS = [1_000, 3_000, 8_000];
/** How often in a row it goes on for a page that nobody touches. */
const UNATTENDED = 4;
/** How often it goes on for one listing because a picture did not come. */
const FOR_LOST_PICTURES = 4;
/** The generation of addresses that came with the answer to a call by the model, which may be an old one. */
const OF_THE_MODEL = -1;

/**
 * Keeps the addresses of pictures good. Each picture has the `expiry` of its addresses, in milliseconds since 1970, and
 * their `generation`: how many renewals had begun when they came.
 */
class Renewal {
  #library;
  #timer;
  #generation = 0;
  #unattended = 0;
  #forLost = 0;
  #running;
  #isOn = false;
  #hasFailed = false;
  isPossible = false;

  /**
   * `library` has `images`, those that need addresses; `renew`, which gets new addresses for the images that `isDue` says,
   * gives them what `stamp` makes of their end, and stops when `isWanted` says no; and `failed`, for when that is given up.
   */
  constructor(library) {
    this.#library = library;
    document.addEventListener('visibilitychange', () => this.#check());
    for (const sign of ['pointerdown', 'keydown', 'pointermove', 'wheel']) {
      document.addEventListener(sign, () => this.#attended(), { passive: true, capture: true });
    }
  }

  /** The pictures of an answer to the model are there. */
  begin() {
    this.stop();
    this.#isOn = true;
    this.#hasFailed = false;
    this.#unattended = this.#forLost = 0;
    this.#check();
  }

  /** There are more pictures than before. */
  extend() {
    this.#check();
  }

  /** There are no pictures to keep. */
  stop() {
    clearTimeout(this.#timer);
    this.#running = undefined;
    this.#isOn = false;
  }

  /** What is known of addresses that came with the answer to a call by the model. */
  told(urlsExpireAt) {
    const left = Date.parse(urlsExpireAt) - Date.now();
    return { expiry: Date.now() + (left < LONGEST_LIFETIME_MS ? left : LIFETIME_MS), generation: OF_THE_MODEL };
  }

  /** What is known of addresses that were made just now. */
  fresh(urlsExpireAt) {
    const left = Date.parse(urlsExpireAt) - Date.now();
    const isCredible = left > AHEAD_MS && left < LONGEST_LIFETIME_MS;
    return { expiry: Date.now() + (isCredible ? left : LIFETIME_MS), generation: this.#generation };
  }

  /** Whether this picture's addresses have to be replaced before they are used, and can be. */
  isExpired({ expiry }) {
    return this.isPossible && Date.now() >= expiry;
  }

  /**
   * A picture did not come. Gives whether new addresses may help: then they are on their way. However long it took, a
   * picture that did not come from the newest addresses is not mended by newer ones, unless they ended meanwhile.
   */
  helps(image) {
    if (!this.isPossible || !this.#isOn || this.#hasFailed) return false;
    const isNewest = image.generation === this.#generation;
    if (this.#running) return !isNewest;
    if ((isNewest && !this.isExpired(image)) || this.#forLost >= FOR_LOST_PICTURES) return false;
    this.#forLost += 1;
    this.run();
    return true;
  }

  /** Gets new addresses, once at a time. */
  run() {
    if (!this.isPossible || !this.#isOn || this.#running) return;
    clearTimeout(this.#timer);
    this.#hasFailed = false;
    this.#generation += 1;
    const running = (this.#running = this.#tries(this.#generation, () => this.#running === running));
  }

  async #tries(generation, isWanted) {
    // `#running` is set once this has given way.
    await undefined;
    // What came in one try stays, and the next one gets the rest.
    const isDue = (image) => image.generation < generation;
    const stamp = (urlsExpireAt) => this.fresh(urlsExpireAt);
    for (const pause of [...PAUSES_MS, undefined]) {
      try {
        await this.#library.renew({ isDue, stamp, isWanted });
        if (!isWanted()) return;
        this.#running = undefined;
        return this.#check();
      } catch (error) {
        if (!isWanted()) return;
        if (pause === undefined) return this.#giveUp(error);
        await new Promise((resolve) => setTimeout(resolve, pause));
        if (!isWanted()) return;
      }
    }
  }

  #giveUp(error) {
    this.#running = undefined;
    this.#hasFailed = true;
    this.#library.failed(error);
  }

  #attended() {
    if (this.#unattended === 0) return;
    this.#unattended = 0;
    this.#check();
  }

  /** Asks at the right time, while somebody can see the pictures. */
  #check() {
    clearTimeout(this.#timer);
    if (!this.isPossible || !this.#isOn || this.#running || this.#hasFailed || document.hidden) return;
    const first = Math.min(...this.#library.images().map(({ expiry }) => expiry));
    if (first === Infinity) return;
    const wait = first - AHEAD_MS - Date.now();
    if (wait > 0) {
      // A clock that is set back must not make this longer than timers can be.
      this.#timer = setTimeout(() => this.#check(), Math.min(wait, LONGEST_LIFETIME_MS));
    } else if (this.#unattended < UNATTENDED) {
      this.#unattended += 1;
      this.run();
    }
  }
}
