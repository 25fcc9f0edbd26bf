// What the tray says.
const uploadNumber = new Intl.NumberFormat('en-GB');
const uploadPhotos = (count) => `${uploadNumber.format(count)} ${count === 1 ? 'photo' : 'photos'}`;

const UploadWords = {
  /** `40 added, 2 were there already, 1 refused`; empty if there is no outcome yet. */
  outcome(counts) {
    const words = [
      ['imported', () => 'added'],
      ['duplicate', (count) => (count === 1 ? 'was there already' : 'were there already')],
      ['restored', () => 'restored from the trash'],
      ['refused', () => 'refused'],
      ['failed', () => 'failed'],
      ['cancelled', () => 'cancelled'],
      ['unreadable', () => 'not readable'],
    ];
    return words.filter(([name]) => counts[name]).map(([name, word]) => `${uploadNumber.format(counts[name])} ${word(counts[name])}`).join(', ');
  },

  /** The state of a file with an outcome. */
  state({ outcome, album, isInAlbum }) {
    if (isInAlbum) return `Added to “${album.title}”`;
    return { imported: 'Added', duplicate: 'Already in your library', restored: 'Restored from the trash', cancelled: 'Cancelled' }[outcome];
  },

  /** How long the rest will take, about. */
  left(seconds) {
    if (seconds < 50) return 'less than a minute left';
    const minutes = Math.round(seconds / 60);
    if (minutes < 60) return `${minutes} min left`;
    return `${Math.floor(minutes / 60)} h ${minutes % 60} min left`;
  },
};

/** Estimates how long the rest takes, from the bytes of the last seconds. */
class UploadPace {
  static #SAMPLES = 20;
  static #EVERY_MS = 1000;
  static #MIN_MS = 3000;
  #samples = [];

  stop() {
    this.#samples = [];
  }

  /** Seconds that the rest takes, or nothing if it is too early to say. */
  left(sent, bytes) {
    const now = performance.now();
    if (!this.#samples.length || now - this.#samples.at(-1).now >= UploadPace.#EVERY_MS) this.#samples.push({ now, sent });
    if (this.#samples.length > UploadPace.#SAMPLES) this.#samples.shift();
    const first = this.#samples[0];
    if (now - first.now < UploadPace.#MIN_MS || sent <= first.sent) return undefined;
    return ((bytes - sent) * (now - first.now)) / (sent - first.sent) / 1000;
  }
}
