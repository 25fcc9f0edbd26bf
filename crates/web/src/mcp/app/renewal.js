// Addresses of pictures stop working after a quarter of an hour. New ones are asked for shortly before, and when a
// picture does not come.

/** How long before the end new addresses are asked for. */
const AHEAD_MS = 60_000;
/** What is believed where the clock of this device and the library's do not agree. */
const LIFETIME_MS = 14 * 60_000;
const LONGEST_LIFETIME_MS = 24 * 60 * 60_000;
/** Before the second, third and fourth try. */
const PAUSES_MS = [1_000, 3_000, 8_000];
/** Addresses this new are good: what does not come then is not mended by newer ones. */
const NEW_MS = 20_000;
/** How often in a row it goes on for a page that nobody touches. */
const UNATTENDED = 4;

class Renewal {
  #renew;
  #failed;
  #timer;
  #expiry = Infinity;
  #renewedAt = -Infinity;
  #unattended = 0;
  #running;
  #hasFailed = false;
  isPossible = false;

  /** `renew` gets new addresses and gives when they expire; `failed` is called when that is given up. */
  constructor(renew, failed) {
    this.#renew = renew;
    this.#failed = failed;
    document.addEventListener('visibilitychange', () => this.#check());
    for (const sign of ['pointerdown', 'keydown', 'pointermove']) {
      document.addEventListener(sign, () => this.#attended(), { passive: true, capture: true });
    }
  }

  get isExpired() {
    return Date.now() >= this.#expiry;
  }

  /** Addresses came with the answer to a call by the model, which may be an old one. */
  begin(urlsExpireAt) {
    this.stop();
    this.#hasFailed = false;
    this.#renewedAt = -Infinity;
    const expiry = Date.parse(urlsExpireAt);
    this.#expiry = Number.isNaN(expiry) ? Date.now() + LIFETIME_MS : expiry;
    this.#check();
  }

  /** New addresses came for some pictures; the others keep their end. */
  extend(urlsExpireAt) {
    this.#expiry = Math.min(this.#expiry, fresh(urlsExpireAt));
    this.#check();
  }

  /** There are no pictures to keep. */
  stop() {
    clearTimeout(this.#timer);
    this.#running = undefined;
    this.#expiry = Infinity;
  }

  /** A picture did not come. Gives whether new addresses may help: then they are on their way. */
  helps() {
    if (!this.isPossible || this.#hasFailed) return false;
    if (!this.#running && !this.isExpired && Date.now() - this.#renewedAt < NEW_MS) return false;
    this.run();
    return true;
  }

  /** Gets new addresses, once at a time. */
  run() {
    if (!this.isPossible || this.#running) return;
    clearTimeout(this.#timer);
    this.#hasFailed = false;
    const running = (this.#running = this.#tries(() => this.#running === running));
  }

  async #tries(isWanted) {
    // `#running` is set once this has given way.
    await undefined;
    for (const pause of [...PAUSES_MS, undefined]) {
      try {
        const urlsExpireAt = await this.#renew(isWanted);
        if (!isWanted()) return;
        this.#renewedAt = Date.now();
        this.#expiry = fresh(urlsExpireAt);
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
    this.#failed(error);
  }

  #attended() {
    if (this.#unattended === 0) return;
    this.#unattended = 0;
    this.#check();
  }

  /** Asks at the right time, while somebody can see the pictures. */
  #check() {
    clearTimeout(this.#timer);
    if (!this.isPossible || this.#running || this.#hasFailed || this.#expiry === Infinity || document.hidden) return;
    const wait = this.#expiry - AHEAD_MS - Date.now();
    if (wait > 0) {
      this.#timer = setTimeout(() => this.#check(), wait);
    } else if (this.#unattended < UNATTENDED) {
      this.#unattended += 1;
      this.run();
    }
  }
}

/** When addresses end that were made just now. */
function fresh(urlsExpireAt) {
  const left = Date.parse(urlsExpireAt) - Date.now();
  return Date.now() + (left > AHEAD_MS && left < LONGEST_LIFETIME_MS ? left : LIFETIME_MS);
}
