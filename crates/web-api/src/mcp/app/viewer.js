// One photo in a large view, with its details.

/** Whether the description contains the matched text, so that it is not shown twice. */
const isMatchedInDescription = ({ description, matchedText }) => Boolean(matchedText && description?.includes(matchedText));

class Viewer {
  #dialog;
  #parts;
  #image;
  #query;
  #source;
  #large;
  #zoom;

  /**
   * `library` has `images`, `hasMore`, `more` (loads the next page), `renewFor` and `isExpired` (see `Renewal`),
   * `isSelectable`, `isSelected`, `select`, `canEdit`, `setFavorite` (fails if the photo cannot be changed), `open` (opens a URL, if the host can) and `closed`.
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
      details: part('dl'),
      select: part('.select'),
      check: part('.select input'),
      stage: part('.stage'),
      previous: part('[data-does="previous"]'),
      next: part('[data-does="next"]'),
      open: part('[data-does="open"]'),
      favorite: part('[data-does="favorite"]'),
      problem: part('.problem'),
      close: part('[data-does="close"]'),
    };
    this.#listen();
  }

  get isOpen() {
    return this.#dialog.open;
  }

  /** The id of the photo in the open viewer. */
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

  /** Loads the open photo again if it is one of these and has not loaded. They have new URLs or were deleted. */
  refresh(ids) {
    if (!this.isOpen || !ids.includes(this.#image.id)) return;
    this.#showActions();
    if (this.#source !== 'medium') this.#load();
  }

  /** Shows that the photo failed to load, unless the thumbnail is visible. */
  showFailure() {
    const { picture, lost } = this.#parts;
    if (this.#source !== undefined || (picture.complete && picture.naturalWidth > 0)) return;
    picture.removeAttribute('src');
    const isDeleted = this.#image?.isDeleted;
    lost.textContent = isDeleted ? 'This photo is no longer in your library.' : 'This photo could not be loaded.';
    lost.hidden = false;
  }

  #listen() {
    const { previous, next, check, open, close, stage, favorite } = this.#parts;
    previous.addEventListener('click', () => this.#move(-1));
    next.addEventListener('click', () => this.#move(1));
    close.addEventListener('click', () => this.close());
    check.addEventListener('change', () => this.library.select([this.#image.id], check.checked));
    open.addEventListener('click', () => this.library.open(this.#image.medium));
    favorite.addEventListener('click', () => this.#toggleFavorite());
    this.#dialog.addEventListener('close', () => this.library.closed(this.#image.id));
    this.#dialog.addEventListener('keydown', (event) => this.#key(event));
    this.#zoom = new Zoom(stage, this.#parts.picture, { swiped: (step) => this.#move(step) });
  }

  #key(event) {
    if (event.altKey || event.ctrlKey || event.metaKey || (event.shiftKey && event.key !== '+')) return undefined;
    // Escape closes the dialog, unless the photo is zoomed.
    if (this.#zoom.key(event.key)) return event.preventDefault();
    const images = this.library.images();
    const action = {
      ArrowLeft: () => this.#move(-1),
      ArrowRight: () => this.#move(1),
      Home: () => this.#show(images[0]),
      End: () => this.#show(images.at(-1)),
      f: () => this.#toggleFavorite(),
    }[event.key];
    if (!action) return undefined;
    event.preventDefault();
    return action();
  }

  async #toggleFavorite() {
    const image = this.#image;
    const { favorite, problem } = this.#parts;
    if (favorite.hidden || favorite.ariaDisabled === 'true') return;
    favorite.ariaDisabled = 'true';
    problem.textContent = '';
    try {
      await this.library.setFavorite([image.id], !image.isFavorite);
    } catch (error) {
      if (this.#image === image) problem.textContent = `The photo could not be changed. ${explain(error)}`;
    } finally {
      favorite.ariaDisabled = 'false';
    }
  }

  get #index() {
    return this.library.images().findIndex(({ id }) => id === this.#image.id);
  }

  /** Shows the next or previous photo. After the last one, loads the next page. */
  async #move(step) {
    const from = this.#image;
    const neighbour = () => this.library.images()[this.#index + step];
    if (!neighbour() && step > 0 && this.library.hasMore()) await this.library.more();
    if (this.isOpen && this.#image === from && neighbour()) this.#show(neighbour());
  }

  #show(image) {
    if (!image) return;
    this.#image = image;
    this.#zoom.reset();
    const { picture, position, title, words, details, check, previous, next } = this.#parts;
    const images = this.library.images();
    const { hasMore } = this.library;
    position.textContent = `${number(this.#index + 1)} of ${hasMore() ? 'the first ' : ''}${number(images.length)}`;
    title.textContent = momentOf(image) || image.fileName || 'Photo';
    if (isMatchedInDescription(image)) mark(words, image.description, this.#query);
    else words.textContent = image.description ?? '';
    words.hidden = !image.description;
    details.replaceChildren(...this.#details(image));
    this.#parts.problem.textContent = '';
    check.checked = this.library.isSelected(image.id);
    this.#showActions();
    previous.setAttribute('aria-disabled', this.#index === 0);
    next.setAttribute('aria-disabled', this.#index === images.length - 1 && !hasMore());
    picture.style.maxWidth = `${image.width}px`;
    picture.style.maxHeight = `${image.height}px`;
    this.#load();
  }

  /** Shows the actions for the photo. A deleted photo has none. */
  #showActions() {
    const { select, check, open, close, favorite, picture } = this.#parts;
    const { isDeleted = false, isFavorite = false } = this.#image;
    const focused = document.activeElement;
    select.hidden = isDeleted || !this.library.isSelectable();
    open.hidden = isDeleted || !this.library.open;
    favorite.hidden = isDeleted || !this.library.canEdit();
    favorite.ariaPressed = String(isFavorite);
    picture.alt = alternativeText(this.#image);
    if (isDeleted && [check, open, favorite].includes(focused)) close.focus();
  }

  /** The details as terms and values. */
  #details(image) {
    const { place, distance: metres, matchedText, fileName } = image;
    const row = (term, fill) => {
      const [name, value] = [document.createElement('dt'), document.createElement('dd')];
      name.textContent = term;
      fill(value);
      return [name, value];
    };
    const rows = [
      place && row('Place', (value) => (value.textContent = place)),
      metres !== undefined && row('Distance', (value) => (value.textContent = distance(metres))),
      matchedText && !isMatchedInDescription(image) && row('Matching text', (value) => mark(value, matchedText, this.#query)),
      fileName && row('File', (value) => (value.textContent = fileName)),
    ];
    return rows.filter(Boolean).flat();
  }

  /** Shows the thumbnail, which is cached, until the larger image has loaded. */
  #load() {
    const image = this.#image;
    const { picture, lost, stage } = this.#parts;
    lost.hidden = true;
    this.#source = this.#large = undefined;
    picture.removeAttribute('src');
    if (image.isDeleted || !image.medium) return this.showFailure();
    if (this.library.isExpired(image)) {
      stage.dataset.state = 'loading';
      return this.library.renewFor(image) || this.showFailure();
    }
    stage.dataset.state = 'loading';
    picture.src = image.thumb;
    const large = (this.#large = new Image());
    large.addEventListener('load', () => {
      if (this.#large !== large) return;
      this.#source = 'medium';
      stage.dataset.state = 'loaded';
      lost.hidden = true;
      picture.src = large.src;
      this.#preload();
    });
    large.addEventListener('error', () => {
      // Ignored if another image or newer URLs are being loaded.
      if (this.#large !== large || !this.isOpen || this.library.renewFor(image)) return;
      stage.dataset.state = 'loaded';
      this.showFailure();
    });
    large.src = image.medium;
  }

  /** Preloads the neighbours. */
  #preload() {
    const images = this.library.images();
    for (const step of [1, -1]) {
      const image = images[this.#index + step];
      if (image?.medium && !this.library.isExpired(image)) new Image().src = image.medium;
    }
  }
}
