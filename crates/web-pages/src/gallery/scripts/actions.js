// The bar with the number of selected photos and the actions for them: a module that loads with the first selected photo.

import { announce, dateText, dialogForm, make, makeButton, makeClose, numberFormat, openDialog, photosText, requestJson, showMessage } from './shared.js';

const COUNT_DELAY_MS = 150;
/** With this many albums, the dialog has a field to find one. */
const MANY_ALBUMS = 9;

export class Actions {
  #timer;
  #announced;

  /** `changed()` is called after an action has cleared the selection, `refresh()` after photos have changed. */
  constructor(selection, scroller, token, changed, refresh) {
    Object.assign(this, { selection, scroller, token, changed, refresh, count: make('strong') });
    this.bar = make(
      'div',
      { id: 'selected', hidden: true, role: 'group', ariaLabel: 'Selected photos' },
      makeClose('Clear the selection', () => this.clear()),
      this.count,
      makeButton('Add to album', () => this.addToAlbum()),
      makeButton('Edit', () => this.edit()),
      makeButton('Favourite', () => this.#change('favorite', 'added to your favourites')),
      makeButton('Archive', () => this.#change('archive', 'moved to the archive')),
      makeButton('Delete', () => this.delete()),
    );
    document.querySelector('main').append(this.bar);
  }

  /** Shows the number of selected photos. */
  update() {
    this.#timer = clearTimeout(this.#timer);
    this.bar.hidden = this.selection.isEmpty;
    if (this.bar.hidden) return void (this.#announced = undefined);
    const count = this.selection.countIn(this.scroller.library);
    if (count !== undefined) return this.#showCount(count);
    this.count.textContent = 'Counting…';
    this.#timer = setTimeout(async () => {
      const timer = this.#timer;
      const answer = await this.#post('/count').catch(() => undefined);
      if (answer && timer === this.#timer) this.#showCount(answer.count);
    }, COUNT_DELAY_MS);
  }

  #showCount(count) {
    this.count.replaceChildren(numberFormat.format(count), make('span', {}, ' selected'));
    if (count !== this.#announced) announce(`${photosText(count)} selected`);
    this.#announced = count;
  }

  #post(path, body = this.selection.body) {
    return requestJson(`/web/selection${path}`, { body: { token: this.token, ...body } });
  }

  clear() {
    this.selection.clear();
    this.changed();
  }

  /** Runs an action on the selected photos. Shows a message and returns nothing if it fails. */
  #run(body) {
    return this.#post('', { ...this.selection.body, ...body }).catch(({ message }) => showMessage(message));
  }

  /** Asks for confirmation with the number of selected photos and their dates, then deletes them. */
  async delete() {
    const answer = await this.#post('/count').catch(({ message }) => showMessage(message));
    if (!answer?.count) return;
    const days = [...new Set([answer.oldest, answer.newest].map(dateText))].join(' to ');
    const remove = () => {
      dialog.close();
      this.#change('delete', 'deleted', 'restored');
    };
    const dialog = openDialog(
      `Delete ${photosText(answer.count)}?`,
      make('p', {}, `From ${days}. You can restore them from the trash for 30 days.`),
      make('div', { className: 'buttons' }, makeButton('Cancel', () => dialog.close()), makeButton('Delete', remove, 'danger')),
    );
  }

  /** Changes the selected photos. `done` and `undone` say what happened to them. */
  async #change(action, done, undone = 'changed back') {
    const { body, state } = this.selection;
    const answer = await this.#run({ action });
    if (!answer) return;
    const { count, at, edit } = answer;
    // All other changes hide the photos.
    if (action !== 'favorite') this.scroller.library.remove((photo) => this.selection.has(photo));
    this.clear();
    const undo = { ...body, at, edit, action: edit ? 'undo' : 'restore' };
    showMessage(`${photosText(count)} ${done}.`, 'Undo', () => this.#undo(undo, state, undone));
    await this.refresh();
  }

  async #undo(body, state, undone) {
    const answer = await this.#run(body);
    if (!answer) return;
    this.selection.restore(state);
    await this.refresh();
    this.changed();
    showMessage(`${photosText(answer.count)} ${undone}.`);
  }

  async addToAlbum() {
    const title = make('input', { type: 'text', name: 'title', maxLength: 100, required: true, autocomplete: 'off', placeholder: 'Title' });
    title.ariaLabel = 'Title of the new album';
    const list = make('ul', { className: 'albums' });
    const add = async (album) => {
      dialog.close();
      const answer = await this.#run({ action: 'add_to_album', ...album });
      if (!answer) return;
      this.clear();
      const open = () => location.assign(`/albums/${answer.album.id}`);
      showMessage(`${photosText(answer.count)} added to “${answer.album.title}”.`, 'Open', open);
    };
    const form = dialogForm(title, 'Create', () => add({ title: title.value.trim() }));
    const oninput = () => {
      for (const item of list.children) item.hidden = !item.querySelector('button').firstChild.data.toLowerCase().includes(search.value.trim().toLowerCase());
    };
    const search = make('input', { type: 'search', name: 'find-album', placeholder: 'Find an album', ariaLabel: 'Find an album', hidden: true, oninput });
    const dialog = openDialog('Add to album', form, search, list, makeButton('Cancel', () => dialog.close()));
    const { albums, message } = await requestJson('/web/albums').catch((error) => error);
    for (const { id, title: name, count } of albums ?? []) {
      const button = makeButton(name, () => add({ album: id }));
      button.append(make('span', {}, photosText(count)));
      list.append(make('li', {}, button));
    }
    search.hidden = list.children.length < MANY_ALBUMS;
    if (message) list.append(make('li', {}, message));
  }

  /** Posts the selection to the page that edits it. */
  edit() {
    const { ids, ranges } = this.selection.body;
    const fields = [
      ['token', this.token],
      ['return_to', location.pathname + location.search],
      ...ids.map((id) => ['image', id]),
      ...ranges.map((range) => ['range', range.join(':')]),
    ];
    const inputs = fields.map(([name, value]) => make('input', { type: 'hidden', name, value }));
    const form = make('form', { method: 'post', action: '/photos/edit', hidden: true }, ...inputs);
    document.body.append(form);
    form.submit();
  }
}
