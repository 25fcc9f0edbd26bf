// One photo, large, with what is known about it.

/** Then it need not be said twice. */
const isMatchedInDescription = ({ description, matchedText }) => Boolean(matchedText && description?.includes(matchedText));
/** How far a finger goes to turn to another picture. */
const SWIPE_PX = 48;

class Viewer {
  #dialog;
  #parts;
  #image;
  #query;
  #source;
  #large;
  #touch;

  /**
   * `library` has `images`, `more` (gives whether more came), `hasMore`, `helps` and `isExpired` as a renewal has them,
   * `isSelectable`, `isSelected`, `select`, `open` an address where the host can do that, and `closed`.
   */
  constructor(dialog, library) {
    this.#dialog = dialog;
    this.library = library;
    const part = (name) => dialog.querySelector(name);
    this.#parts = {
      picture: part('img'),
      lost: part('.lost'),
      position: part('.position'),
      title: part('h2'),
      words: part('.words'),
      facts: part('dl'),
      select: part('.select'),
      check: part('.select input'),
      stage: part('.stage'),
      previous: part('[data-does="previous"]'),
      next: part('[data-does="next"]'),
      open: part('[data-does="open"]'),
      close: part('[data-does="close"]'),
    };
    this.#listen();
  }

  get isOpen() {
    return this.#dialog.open;
  }

  /** The id of the picture that is seen. */
  get id() {
    return this.isOpen ? this.#image.id : undefined;
  }

  open(id, query) {
    this.#query = query;
    this.#show(this.library.images().find((image) => image.id === id));
    this.#dialog.showModal();
    this.#parts.close.focus();
  }

  close() {
    if (this.isOpen) this.#dialog.close();
  }

  /** These pictures have new addresses, or are gone: loads again what has not come. */
  refresh(ids) {
    if (!this.isOpen || !ids.includes(this.#image.id)) return;
    this.#offer();
    if (this.#source !== 'medium') this.#load();
  }

  /** What has not come does not come any more. */
  lose() {
    const { picture, lost } = this.#parts;
    // The thumbnail is better than nothing.
    if (this.#source !== undefined || (picture.complete && picture.naturalWidth > 0)) return;
    picture.removeAttribute('src');
    const isGone = this.#image?.isGone;
    lost.textContent = isGone ? 'This photo is no longer in your library.' : 'This photo could not be loaded.';
    lost.hidden = false;
  }

  #listen() {
    const { previous, next, check, open, close, stage } = this.#parts;
    previous.addEventListener('click', () => this.#turn(-1));
    next.addEventListener('click', () => this.#turn(1));
    close.addEventListener('click', () => this.close());
    check.addEventListener('change', () => this.library.select([this.#image.id], check.checked));
    open.addEventListener('click', () => this.library.open(this.#image.medium));
    this.#dialog.addEventListener('close', () => this.library.closed(this.#image.id));
    this.#dialog.addEventListener('keydown', (event) => this.#key(event));
    stage.addEventListener('pointerdown', ({ isPrimary, clientX, clientY, pointerType }) => {
      this.#touch = isPrimary && pointerType !== 'mouse' ? { clientX, clientY } : undefined;
    });
    stage.addEventListener('pointercancel', () => (this.#touch = undefined));
    stage.addEventListener('pointerup', (event) => this.#swipe(event));
  }

  #key(event) {
    if (event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
    const images = this.library.images();
    const action = {
      ArrowLeft: () => this.#turn(-1),
      ArrowRight: () => this.#turn(1),
      Home: () => this.#show(images[0]),
      End: () => this.#show(images.at(-1)),
    }[event.key];
    if (!action) return;
    event.preventDefault();
    action();
  }

  #swipe({ clientX, clientY }) {
    const [across, down] = [clientX - this.#touch?.clientX, clientY - this.#touch?.clientY];
    this.#touch = undefined;
    if (Math.abs(across) > SWIPE_PX && Math.abs(across) > Math.abs(down)) this.#turn(across < 0 ? 1 : -1);
  }

  get #place() {
    return this.library.images().findIndex(({ id }) => id === this.#image.id);
  }

  /** Goes on to the next picture or back to the one before; behind the last one, gets more. */
  async #turn(by) {
    const from = this.#image;
    const beside = () => this.library.images()[this.#place + by];
    if (!beside() && by > 0 && this.library.hasMore()) await this.library.more();
    if (this.isOpen && this.#image === from && beside()) this.#show(beside());
  }

  #show(image) {
    if (!image) return;
    this.#image = image;
    const { picture, position, title, words, facts, check, previous, next } = this.#parts;
    const images = this.library.images();
    const { hasMore } = this.library;
    position.textContent = `${number(this.#place + 1)} of ${hasMore() ? 'the first ' : ''}${number(images.length)}`;
    title.textContent = momentOf(image) || image.fileName || 'Photo';
    if (isMatchedInDescription(image)) mark(words, image.description, this.#query);
    else words.textContent = image.description ?? '';
    words.hidden = !image.description;
    facts.replaceChildren(...this.#facts(image));
    check.checked = this.library.isSelected(image.id);
    this.#offer();
    previous.setAttribute('aria-disabled', this.#place === 0);
    next.setAttribute('aria-disabled', this.#place === images.length - 1 && !hasMore());
    picture.alt = alternative(image);
    picture.style.maxWidth = `${image.width}px`;
    picture.style.maxHeight = `${image.height}px`;
    this.#load();
  }

  /** Shows what can be done with the picture; with one that is gone, nothing. */
  #offer() {
    const { select, check, open, close } = this.#parts;
    const { isGone = false } = this.#image;
    const focused = document.activeElement;
    select.hidden = isGone || !this.library.isSelectable();
    open.hidden = isGone || !this.library.open;
    if (isGone && (focused === check || focused === open)) close.focus();
  }

  /** What is known, as terms and what stands for them. */
  #facts(image) {
    const { place, distance: away, matchedText, fileName } = image;
    const row = (term, fill) => {
      const [name, value] = [document.createElement('dt'), document.createElement('dd')];
      name.textContent = term;
      fill(value);
      return [name, value];
    };
    const rows = [
      place && row('Place', (value) => (value.textContent = place)),
      away !== undefined && row('Distance', (value) => (value.textContent = distance(away))),
      matchedText && !isMatchedInDescription(image) && row('Matching text', (value) => mark(value, matchedText, this.#query)),
      fileName && row('File', (value) => (value.textContent = fileName)),
    ];
    return rows.filter(Boolean).flat();
  }

  /** The thumbnail, which is here already, until the larger picture has come. */
  #load() {
    const image = this.#image;
    const { picture, lost, stage } = this.#parts;
    lost.hidden = true;
    this.#source = this.#large = undefined;
    picture.removeAttribute('src');
    if (image.isGone || !image.medium) return this.lose();
    if (this.library.isExpired(image)) {
      stage.dataset.state = 'coming';
      return this.library.helps(image) || this.lose();
    }
    stage.dataset.state = 'coming';
    picture.src = image.thumb;
    const large = (this.#large = new Image());
    large.addEventListener('load', () => {
      if (this.#large !== large) return;
      this.#source = 'medium';
      stage.dataset.state = 'there';
      lost.hidden = true;
      picture.src = large.src;
      this.#prepare();
    });
    large.addEventListener('error', () => {
      // What was asked of older addresses does not count any more.
      if (this.#large !== large || !this.isOpen || this.library.helps(image)) return;
      stage.dataset.state = 'there';
      this.lose();
    });
    large.src = image.medium;
  }

  /** Gets the neighbours, so that they are there when somebody goes on. */
  #prepare() {
    const images = this.library.images();
    for (const by of [1, -1]) {
      const image = images[this.#place + by];
      if (image?.medium && !this.library.isExpired(image)) new Image().src = image.medium;
    }
  }
}
