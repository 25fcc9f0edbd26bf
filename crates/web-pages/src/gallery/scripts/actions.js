// The bar with the selected photos, and what can be done with them (timeline.js).

const COUNT_DELAY_MS = 150;

class Actions {
  #selection;
  #scroller;
  #token;
  #timer;

  /** `changed()` is called after the selection was cleared here. */
  constructor(selection, scroller, token, changed) {
    Object.assign(this, { changed });
    this.#selection = selection;
    this.#scroller = scroller;
    this.#token = token;
    this.count = make('strong');
    const clear = makeButton('', () => this.clear(), 'plain close');
    clear.ariaLabel = 'Clear the selection';
    this.bar = make(
      'div',
      { id: 'selected', hidden: true, role: 'group', ariaLabel: 'Selected photos' },
      clear,
      this.count,
      makeButton('Add to album', () => this.addToAlbum()),
      makeButton('Edit', () => this.edit()),
      makeButton('Delete', () => this.delete()),
    );
    document.querySelector('main').append(this.bar);
  }

  /** Shows the number of selected photos. */
  update() {
    clearTimeout(this.#timer);
    const { isEmpty } = this.#selection;
    this.bar.hidden = isEmpty;
    if (isEmpty) return;
    const count = this.#selection.countIn(this.#scroller.library);
    if (count !== undefined) return this.#showCount(count);
    this.count.textContent = 'Counting…';
    this.#timer = setTimeout(async () => {
      const { state } = this.#selection;
      const answer = await this.#ask().catch(() => undefined);
      if (answer && JSON.stringify(state) === JSON.stringify(this.#selection.state)) this.#showCount(answer.count);
    }, COUNT_DELAY_MS);
  }

  #showCount(count) {
    this.count.replaceChildren(numberFormat.format(count), make('span', { textContent: ' selected' }));
    announce(`${photosText(count)} selected`);
  }

  #ask() {
    return postJson('/web/selection/count', { token: this.#token, ...this.#selection.body });
  }

  clear() {
    this.#selection.clear();
    this.changed();
  }

  async #run(body) {
    try {
      return await postJson('/web/selection', { token: this.#token, ...body });
    } catch (error) {
      showMessage(error.message);
      return undefined;
    }
  }

  /** Asks how many photos from when to when are to be deleted, then deletes them. */
  async delete() {
    const answer = await this.#ask().catch((error) => showMessage(error.message));
    if (!answer?.count) return;
    const [oldest, newest] = [dateText(answer.oldest), dateText(answer.newest)];
    const about = `${oldest === newest ? `From ${oldest}.` : `From ${oldest} to ${newest}.`} You can restore them from the trash for 30 days.`;
    const dialog = openDialog(
      `Delete ${photosText(answer.count)}?`,
      make('p', { textContent: about }),
      make(
        'div',
        { className: 'buttons' },
        makeButton('Cancel', () => dialog.close()),
        makeButton('Delete', () => (dialog.close(), this.#delete()), 'danger'),
      ),
    );
  }

  async #delete() {
    const { body, state } = this.#selection;
    const answer = await this.#run({ action: 'delete', ...body });
    if (!answer) return;
    this.#scroller.library.remove((photo) => this.#selection.has(photo));
    this.clear();
    showMessage(`${photosText(answer.count)} deleted.`, 'Undo', () => this.#restore(body, state, answer.at));
    await this.refresh();
  }

  async #restore(body, state, at) {
    const answer = await this.#run({ action: 'restore', at, ...body });
    if (!answer) return;
    this.#selection.restore(state);
    await this.refresh();
    this.changed();
    showMessage(`${photosText(answer.count)} restored.`);
  }

  /** Loads the totals again and draws what has changed. */
  async refresh() {
    this.#scroller.relayout();
    const isChanged = await this.#scroller.library.refresh().catch(() => false);
    if (isChanged) this.#scroller.relayout();
  }

  async addToAlbum() {
    const title = make('input', { type: 'text', name: 'title', maxLength: 100, required: true, autocomplete: 'off', placeholder: 'Title' });
    title.ariaLabel = 'Title of the new album';
    const list = make('ul', { className: 'albums' });
    const form = make('form', { method: 'dialog' }, title, make('button', { textContent: 'Create' }));
    const add = async (album) => {
      dialog.close();
      const answer = await this.#run({ action: 'add_to_album', ...album, ...this.#selection.body });
      if (!answer) return;
      this.clear();
      const open = () => location.assign(`/albums/${answer.album.id}`);
      showMessage(`${photosText(answer.count)} added to “${answer.album.title}”.`, 'Open', open);
    };
    form.addEventListener('submit', () => add({ title: title.value.trim() }));
    const dialog = openDialog('Add to album', form, list, makeButton('Cancel', () => dialog.close()));
    const { albums } = await requestJson('/web/albums').catch(({ message }) => (list.append(make('li', { textContent: message })), { albums: [] }));
    for (const { id, title: name, count } of albums) {
      const button = makeButton(name, () => add({ album: id }), 'album');
      button.append(make('span', { textContent: photosText(count) }));
      list.append(make('li', {}, button));
    }
  }

  /** Posts the selection to the page that edits it. */
  edit() {
    const { ids, ranges, except } = this.#selection.body;
    const fields = [
      ['token', this.#token],
      ['return_to', location.pathname + location.search],
      ...ids.map((id) => ['image', id]),
      ...ranges.map((range) => ['range', range.join(':')]),
      ...except.map((id) => ['except', id]),
    ];
    const form = make('form', { method: 'post', action: '/photos/edit', hidden: true });
    form.append(...fields.map(([name, value]) => make('input', { type: 'hidden', name, value })));
    document.body.append(form);
    form.submit();
  }
}
