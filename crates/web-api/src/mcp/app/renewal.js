// Image URLs expire after 15 minutes. The app requests new ones shortly before, and when a photo fails to load.

/** New URLs are requested this long before the old ones expire. */
const AHEAD_MS = 60_000;
/** Assumed lifetime if the clocks of this device and of the library differ. */
const ASSUMED_LIFETIME_MS = 14 * 60_000;
const MAX_LIFETIME_MS = 24 * 60 * 60_000;
/** Backoff before the second, third and fourth attempt. */
const BACKOFF_MS = [1_000, 3_000, 8_000];
/** Renewals in a row without any input from the user. */
const MAX_UNATTENDED = 4;
/** Renewals per listing that failed photos may start. */
const MAX_FOR_FAILED = 4;
/** The generation of URLs from a call by the model, whose result may be old. */
const MODEL_GENERATION = -1;

/**
 * Renews image URLs. Each photo has the `expiry` of its URLs, in milliseconds since 1970, and their `generation`: the number
 * of renewals that had started when they were received.
 */
class Renewal {
  #library;
  #timer;
  #generation = 0;
  #unattended = 0;
  #renewalsForFailed = 0;
  #running;
  #isActive = false;
  #hasGivenUp = false;
  isPossible = false;

  /**
   * `library` has `images` (the photos whose URLs are renewed), `renew` (requests new URLs for the photos that are `isDue`,
   * marks them with the result of `stamp`, and stops when `isWanted` returns false) and `failed` (called after the last
   * attempt).
   */
  constructor(library) {
    this.#library = library;
    document.addEventListener('visibilitychange', () => this.#schedule());
    for (const type of ['pointerdown', 'keydown', 'pointermove', 'wheel']) {
      document.addEventListener(type, () => this.#onInput(), { passive: true, capture: true });
    }
  }

  /** Starts with the photos of a new result. */
  start() {
    this.stop();
    this.#isActive = true;
    this.#hasGivenUp = false;
    this.#unattended = this.#renewalsForFailed = 0;
    this.#schedule();
  }

  /** Continues after photos were added. */
  extend() {
    this.#schedule();
  }

  /** Stops, because the photos were removed. */
  stop() {
    clearTimeout(this.#timer);
    this.#running = undefined;
    this.#isActive = false;
  }

  /** The stamp of URLs from a call by the model. */
  modelStamp(urlsExpireAt) {
    const left = Date.parse(urlsExpireAt) - Date.now();
    return { expiry: Date.now() + (left < MAX_LIFETIME_MS ? left : ASSUMED_LIFETIME_MS), generation: MODEL_GENERATION };
  }

  /** The stamp of URLs from a call of this app. */
  freshStamp(urlsExpireAt) {
    const left = Date.parse(urlsExpireAt) - Date.now();
    const isCredible = left > AHEAD_MS && left < MAX_LIFETIME_MS;
    return { expiry: Date.now() + (isCredible ? left : ASSUMED_LIFETIME_MS), generation: this.#generation };
  }

  /** Whether the URLs of a photo have expired and can be renewed. */
  isExpired({ expiry }) {
    return this.isPossible && Date.now() >= expiry;
  }

  /**
   * Called when a photo fails to load. If a renewal may help, starts one unless one is running, and returns true. A renewal does
   * not help if the photo already has the newest URLs, unless they have expired in the meantime.
   */
  renewFor(image) {
    if (!this.isPossible || !this.#isActive || this.#hasGivenUp) return false;
    const isNewest = image.generation === this.#generation;
    if (this.#running) return !isNewest;
    if ((isNewest && !this.isExpired(image)) || this.#renewalsForFailed >= MAX_FOR_FAILED) return false;
    this.#renewalsForFailed += 1;
    this.run();
    return true;
  }

  /** Starts a renewal, unless one is running. */
  run() {
    if (!this.isPossible || !this.#isActive || this.#running) return;
    clearTimeout(this.#timer);
    this.#hasGivenUp = false;
    this.#generation += 1;
    const running = (this.#running = this.#attempts(this.#generation, () => this.#running === running));
  }

  async #attempts(generation, isWanted) {
    // Continues after the caller has set `#running`.
    await undefined;
    // URLs received in one attempt are kept. The next attempt requests the rest.
    const isDue = (image) => image.generation < generation;
    const stamp = (urlsExpireAt) => this.freshStamp(urlsExpireAt);
    for (const backoff of [...BACKOFF_MS, undefined]) {
      try {
        await this.#library.renew({ isDue, stamp, isWanted });
        if (!isWanted()) return;
        this.#running = undefined;
        return this.#schedule();
      } catch (error) {
        if (!isWanted()) return;
        if (backoff === undefined) return this.#giveUp(error);
        await new Promise((resolve) => setTimeout(resolve, backoff));
        if (!isWanted()) return;
      }
    }
  }

  #giveUp(error) {
    this.#running = undefined;
    this.#hasGivenUp = true;
    this.#library.failed(error);
  }

  #onInput() {
    if (this.#unattended === 0) return;
    this.#unattended = 0;
    this.#schedule();
  }

  /** Schedules the next renewal, while the page is visible. */
  #schedule() {
    clearTimeout(this.#timer);
    if (!this.isPossible || !this.#isActive || this.#running || this.#hasGivenUp || document.hidden) return;
    const first = Math.min(...this.#library.images().map(({ expiry }) => expiry));
    if (first === Infinity) return;
    const wait = first - AHEAD_MS - Date.now();
    if (wait > 0) {
      // The wait is limited: if the clock is set back, it could exceed the maximum of timers.
      this.#timer = setTimeout(() => this.#schedule(), Math.min(wait, MAX_LIFETIME_MS));
    } else if (this.#unattended < MAX_UNATTENDED) {
      this.#unattended += 1;
      this.run();
    }
  }
}
