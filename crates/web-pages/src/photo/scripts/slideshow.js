// The slideshow: the next photo every four seconds, until the last one.

const SLIDE_SHOWN_MS = 4_000;
const FADE_MS = 500;

class Slideshow {
  #timer;
  isRunning = false;

  /** `next()` moves to the next photo and returns whether there was one. */
  constructor(next) {
    this.next = next;
    this.button = makeIconButton('play', 'Start the slideshow', () => this.toggle());
    document.addEventListener('visibilitychange', () => this.again());
  }

  toggle() {
    if (this.isRunning) return this.stop('The slideshow has stopped.');
    this.isRunning = true;
    this.button.show('pause', 'Stop the slideshow');
    announce('The slideshow has started.');
    return this.again();
  }

  stop(text) {
    this.isRunning = false;
    clearTimeout(this.#timer);
    this.button.show('play', 'Start the slideshow');
    announce(text);
  }

  /** Shows the present photo for the whole time, while the page is visible. */
  again() {
    clearTimeout(this.#timer);
    if (this.isRunning && !document.hidden) this.#timer = setTimeout(() => this.#step(), SLIDE_SHOWN_MS);
  }

  async #step() {
    // The photo stays while somebody uses the panel or is asked something.
    if (document.activeElement.closest('.about') || document.querySelector('.bar details[open], dialog')) return this.again();
    if (!(await this.next())) return this.stop('The slideshow has ended.');
    if (!isStill.matches) document.getElementById('photo').animate([{ opacity: 0 }, { opacity: 1 }], FADE_MS);
    return this.again();
  }
}
