// Makes an album of photos: one call makes it with as many as a call takes, further calls add the rest.

const LONGEST_TITLE = 100;

class AlbumMaker {
  #dialog;
  #parts;
  #call;
  #made;
  #job;
  #isBusy = false;

  /** `call` calls a tool and gives its payload; `made` is told of the album. */
  constructor(dialog, call, made) {
    this.#dialog = dialog;
    this.#call = call;
    this.#made = made;
    const part = (name) => dialog.querySelector(name);
    this.#parts = {
      about: part('#album-about'),
      title: part('input'),
      problem: part('.problem'),
      cancel: part('[data-does="cancel"]'),
      make: part('[data-does="make"]'),
    };
    const { title, cancel, make } = this.#parts;
    make.addEventListener('click', () => this.#make());
    cancel.addEventListener('click', () => this.close());
    title.addEventListener('input', () => this.#complain(''));
    // Frames of apps send no forms.
    title.addEventListener('keydown', ({ key, isComposing }) => key === 'Enter' && !isComposing && this.#make());
    // What is under way is waited for.
    dialog.addEventListener('cancel', (event) => this.#isBusy && event.preventDefault());
  }

  get isOpen() {
    return this.#dialog.open;
  }

  /** Asks for the title of an album of these photos. */
  open(ids, suggestion = '') {
    this.#job = { ids, albumId: undefined, added: 0 };
    const { about, title } = this.#parts;
    about.textContent = `It will have ${photos(ids.length)}. They also stay where they are in your library.`;
    title.value = suggestion;
    title.readOnly = false;
    this.#complain('');
    this.#wait(false);
    this.#dialog.showModal();
    title.focus();
    title.select();
  }

  close() {
    if (this.isOpen && !this.#isBusy) this.#dialog.close();
  }

  async #make() {
    if (this.#isBusy) return;
    const title = this.#parts.title.value.trim();
    const length = [...title].length;
    if (length === 0) return this.#complain('Give the album a title.', true);
    if (length > LONGEST_TITLE) {
      return this.#complain(`This title is too long: it has ${number(length)} characters, and ${LONGEST_TITLE} are allowed.`, true);
    }
    this.#complain('');
    this.#wait(true);
    try {
      const album = await this.#send(title);
      this.#wait(false);
      this.#dialog.close();
      this.#made(album);
    } catch (error) {
      this.#wait(false);
      this.#complain(this.#explain(error, title));
    }
  }

  /** Goes on where it was: an album that has been made is not made again. */
  async #send(title) {
    const job = this.#job;
    const lists = chunks(job.ids);
    while (job.added < lists.length) {
      const ids = lists[job.added];
      const payload = job.albumId
        ? await this.#call('update_album', { albumId: job.albumId, addImageIds: ids })
        : await this.#call('create_album', { title, imageIds: ids });
      const { result } = payload;
      job.albumId ??= text(result?.id);
      job.album = { id: job.albumId, title: text(result?.title) ?? title, count: finite(result?.imageCount) };
      job.added += 1;
      // Its title stands now.
      this.#parts.title.readOnly = true;
      if (!job.albumId && job.added < lists.length) throw ToolFailed.unreadable();
    }
    return { ...job.album, count: job.album.count ?? job.ids.length };
  }

  #explain(error, title) {
    const { albumId, added } = this.#job;
    if (albumId) return `The album “${title}” has the first ${photos(added * MOST)}. The others are not in it yet. ${explain(error)}`;
    if (error.isTimeout) return 'The photo library did not answer, so the album may have been made or not. Ask the assistant to list your albums before you try again.';
    return explain(error);
  }

  #complain(words, isAboutTitle = false) {
    const { title, problem } = this.#parts;
    problem.textContent = words;
    title.setAttribute('aria-invalid', isAboutTitle);
    if (isAboutTitle) title.focus();
  }

  #wait(is) {
    this.#isBusy = is;
    const { make, cancel } = this.#parts;
    for (const button of [make, cancel]) button.setAttribute('aria-disabled', is);
    make.textContent = is ? 'Making the album…' : this.#job.albumId ? 'Add the rest' : 'Make the album';
  }
}
