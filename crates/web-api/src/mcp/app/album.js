// Creates an album: one call creates it with as many photos as a call accepts, further calls add the rest.

const MAX_TITLE_LENGTH = 100;

class AlbumCreator {
  #dialog;
  #parts;
  #call;
  #created;
  #progress;
  #isBusy = false;

  /** `call` calls a tool and returns its payload. `created` is called with the new album. */
  constructor(dialog, call, created) {
    this.#dialog = dialog;
    this.#call = call;
    this.#created = created;
    const part = (name) => dialog.querySelector(name);
    this.#parts = {
      about: part('#album-about'),
      title: part('input'),
      problem: part('.problem'),
      cancel: part('[data-does="cancel"]'),
      create: part('[data-does="create"]'),
    };
    const { title, cancel, create } = this.#parts;
    create.addEventListener('click', () => this.#create());
    cancel.addEventListener('click', () => this.close());
    title.addEventListener('input', () => this.#showProblem(''));
    // A sandboxed frame cannot submit forms.
    title.addEventListener('keydown', ({ key, isComposing }) => key === 'Enter' && !isComposing && this.#create());
    // The dialog stays open while a call is in progress.
    dialog.addEventListener('cancel', (event) => this.#isBusy && event.preventDefault());
  }

  get isOpen() {
    return this.#dialog.open;
  }

  /** Opens the dialog for an album of these photos. */
  open(ids, suggestion = '') {
    this.#progress = { ids, albumId: undefined, added: 0 };
    const { about, title } = this.#parts;
    about.textContent = `The album will contain ${photos(ids.length)}.`;
    title.value = suggestion;
    title.readOnly = false;
    this.#showProblem('');
    this.#setBusy(false);
    this.#dialog.showModal();
    title.focus();
    title.select();
  }

  close() {
    if (this.isOpen && !this.#isBusy) this.#dialog.close();
  }

  async #create() {
    if (this.#isBusy) return;
    const title = this.#parts.title.value.trim();
    const length = [...title].length;
    if (length === 0) return this.#showProblem('Enter a title.', true);
    if (length > MAX_TITLE_LENGTH) {
      return this.#showProblem(`The title has ${number(length)} characters. Shorten it to ${MAX_TITLE_LENGTH} or fewer.`, true);
    }
    this.#showProblem('');
    this.#setBusy(true);
    try {
      const album = await this.#send(title);
      this.#setBusy(false);
      this.#dialog.close();
      this.#created(album);
    } catch (error) {
      this.#setBusy(false);
      this.#showProblem(this.#explain(error, title));
    }
  }

  /** Continues after the last successful call, so that an album is never created twice. */
  async #send(title) {
    const progress = this.#progress;
    const batches = chunks(progress.ids);
    while (progress.added < batches.length) {
      const ids = batches[progress.added];
      const payload = progress.albumId
        ? await this.#call('update_album', { albumId: progress.albumId, addImageIds: ids })
        : await this.#call('create_album', { title, imageIds: ids });
      const { result } = payload;
      progress.albumId ??= text(result?.id);
      progress.album = { id: progress.albumId, title: text(result?.title) ?? title, count: finite(result?.imageCount) };
      progress.added += 1;
      // The album exists now and keeps this title.
      this.#parts.title.readOnly = true;
      if (!progress.albumId && progress.added < batches.length) throw ToolFailed.unreadable();
    }
    return { ...progress.album, count: progress.album.count ?? progress.ids.length };
  }

  #explain(error, title) {
    const { albumId, added } = this.#progress;
    if (albumId) return `The album “${title}” contains the first ${photos(added * MAX_IDS)}. The others could not be added. ${explain(error)}`;
    if (error.isTimeout) return 'The photo library did not respond, so the album may or may not exist. Ask the assistant to list your albums before you try again.';
    return explain(error);
  }

  #showProblem(message, isTitleInvalid = false) {
    const { title, problem } = this.#parts;
    problem.textContent = message;
    title.setAttribute('aria-invalid', isTitleInvalid);
    if (isTitleInvalid) title.focus();
  }

  #setBusy(isBusy) {
    this.#isBusy = isBusy;
    const { create, cancel } = this.#parts;
    for (const button of [create, cancel]) button.setAttribute('aria-disabled', isBusy);
    create.textContent = isBusy ? 'Creating the album…' : this.#progress.albumId ? 'Add the rest' : 'Create album';
  }
}
