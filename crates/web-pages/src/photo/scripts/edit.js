// Corrections on the photo page: the form of the page that corrects a photo, in the panel for the description, and in a dialog for
// time and place. A module that loads with its first use.

import { NO_ANSWER, make, makeClose, requestJson, showMessage } from './shared.js';

/** Time without typing after which cities are looked up. */
const QUIET_MS = 250;
/** Cities that are offered while people type. */
const MAX_CITIES = 7;
const HEADINGS = { 'of-time': 'Time', 'of-place': 'Place' };
/** The field that has the focus first. */
const FIRST = ':is(textarea, [type="datetime-local"], [name="city"])';
const REFUSED = 'Nothing was changed. Copy what you typed, reload the page and try again.';

/**
 * Gets functions of the page. `post(form, submitter)` sends a form and returns the page of the answer. `update(page, near)` shows what
 * such a page says about its photo, and focuses `near` if the control that had the focus is gone. `open(href)` shows another photo.
 * `Gestures` is the class of the page.
 */
export function startEditing(main, { parse, post, update, open, showPanel, Gestures }) {
  document.head.append(make('link', { rel: 'stylesheet', href: new URL('edit.css', import.meta.url) }));
  /** The forms in the panel by the id of their photo. A form stays when another photo is opened. */
  const forms = new Map();
  const present = () => forms.get(main.dataset.id);

  const fieldIn = (form) => form.querySelector('textarea');
  const isChanged = (form) => form.dataset.refused || fieldIn(form).value !== fieldIn(form).defaultValue;

  /** The form of a page. */
  const formOf = (page) => document.importNode(page.querySelector('form.correct'), true);

  /** Requests the form of a link for the present photo. Nothing if another photo or dialog is opened meanwhile. */
  async function load({ href }) {
    const { id } = main.dataset;
    const page = await fetch(href).then(parse, () => undefined);
    if (!page) return void showMessage(NO_ANSWER);
    const form = formOf(page);
    return main.dataset.id === id && !document.querySelector('dialog[open]') ? form : undefined;
  }

  /** Shows a problem above a form. */
  function warn(form, text) {
    form.querySelector('.notice')?.remove();
    const notice = make('p', { className: 'notice warn', role: 'alert' }, text);
    form.prepend(notice);
    notice.scrollIntoView({ block: 'nearest' });
  }

  /** Sends a form. Then it calls `saved` with the page of the photo, or shows what is wrong and calls `prepare`. */
  async function send(form, submitter, saved, prepare) {
    if (form.ariaBusy) return;
    const setBusy = (isBusy) => {
      form.ariaBusy = isBusy ? 'true' : null;
      for (const field of form.querySelectorAll('textarea, input')) field.readOnly = isBusy;
    };
    const sent = post(form, submitter);
    // What is typed now would be lost.
    setBusy(true);
    const page = await sent.catch(() => undefined);
    setBusy(false);
    if (page?.querySelector('main.photo')) return void saved(page);
    if (!page?.querySelector('form.correct')) return void warn(form, page ? REFUSED : `Nothing was changed. ${NO_ANSWER}`);
    const notice = page.querySelector('.notice');
    form.replaceChildren(...formOf(page).childNodes);
    form.dataset.refused = 'refused';
    prepare(form);
    warn(form, notice.textContent);
    (form.querySelector('[aria-invalid="true"], [aria-label="Cities"] input') ?? form.querySelector(FIRST)).focus();
  }

  /** Puts a form in the place of the description. */
  function place(form) {
    const link = main.querySelector('#edit-description');
    const item = link.closest('dd') ?? link.parentNode.nextElementSibling;
    link.hidden = true;
    item.classList.add('edited-here');
    item.append(form);
  }

  /** Removes the form from the panel. What was typed can be restored. */
  function close(id) {
    const form = forms.get(id);
    forms.delete(id);
    if (isChanged(form)) {
      const { value } = fieldIn(form);
      const restore = async () => {
        if (main.dataset.id !== id) await open(form.dataset.href);
        await describe(main.querySelector('#edit-description'));
        if (present()) fieldIn(present()).value = value;
      };
      showMessage('The description was not saved.', 'Restore', restore);
    }
    if (!form.isConnected) return;
    const link = main.querySelector('#edit-description');
    form.parentNode.classList.remove('edited-here');
    form.remove();
    link.hidden = false;
    link.focus();
  }

  /** Removes the other fields, which then stay as they are, and the button for Enter, which a text of several lines needs. */
  function leaveDescription(form) {
    for (const part of form.querySelectorAll('fieldset:not(#of-description), button.unseen')) part.remove();
  }

  /** Opens the form of the description in the panel. */
  async function describe(link) {
    const { id } = main.dataset;
    const { href } = location;
    if (!present()) {
      const form = await load(link);
      if (!form || present()) return;
      leaveDescription(form);
      forms.set(id, Object.assign(form, { onsubmit, onkeydown, onclick }));
      form.dataset.href = href;
      place(form);
    }
    showPanel();
    const field = fieldIn(present());
    field.focus();
    field.setSelectionRange(field.value.length, field.value.length);

    function onsubmit(event) {
      event.preventDefault();
      send(this, event.submitter, (page) => {
        forms.delete(id);
        update(page, '#edit-description');
      }, leaveDescription);
    }

    function onkeydown(event) {
      // The keys of the page have other meanings here.
      event.stopPropagation();
      if (event.key === 'Escape' && !event.isComposing) close(id);
      else if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) this.requestSubmit();
    }

    function onclick(event) {
      if (!event.target.closest('a')) return;
      event.preventDefault();
      close(id);
    }
  }

  /** Keeps what was typed when the panel shows another photo, or the same photo after another change. */
  new MutationObserver(() => {
    if (present() && !present().isConnected) place(present());
    for (const [id, form] of forms) {
      if (form.isConnected || form.dataset.left) continue;
      if (!isChanged(form)) forms.delete(id);
      else {
        form.dataset.left = 'left';
        const back = () => open(form.dataset.href).then(() => present() && describe());
        showMessage('You have an unsaved description.', 'Edit it', back);
      }
    }
    if (present()) delete present().dataset.left;
  }).observe(main.querySelector('.about'), { childList: true });
  addEventListener('beforeunload', (event) => ([...forms.values()].some(isChanged) || document.querySelector('.sheet [data-changed]')) && event.preventDefault());

  /** Opens the form, or one part of it, in a dialog. */
  async function openSheet(link) {
    const part = link.hash.slice(1);
    const form = await load(link);
    if (!form) return;
    const attach = part !== 'of-time' && makePin(form, Gestures);
    const heading = HEADINGS[part] ?? 'Edit';
    const head = make('div', { className: 'head' }, make('h2', {}, heading), makeClose('Close', () => dialog.close()));
    const dialog = make('dialog', { className: part ? 'sheet one' : 'sheet', ariaLabel: heading, onclose: () => dialog.remove() }, head, form);

    const prepare = () => {
      // What is not sent stays as it is.
      for (const set of part ? form.querySelectorAll(`fieldset:not(#${part})`) : []) set.remove();
      const find = form.querySelector('[name="find"]');
      if (find) find.hidden = true;
      return attach && attach();
    };
    const pin = prepare();
    // A part is opened to change it.
    if (part) form.querySelector(part === 'of-time' ? '[value="set"]' : '[value="city"]').checked = true;
    document.body.append(dialog);
    dialog.showModal();
    // The keyboard of a phone would cover the map.
    (part && pin && matchMedia('(pointer: coarse)').matches ? pin : form.querySelector(FIRST)).focus();

    const time = form.querySelector('[name="time"]')?.value;
    form.onsubmit = (event) => {
      event.preventDefault();
      const { time_action: action, time: typed, time_zone: zone } = form.elements;
      // The field leaves out the milliseconds of the time, which stay if nothing was typed.
      if (action?.value === 'set' && typed.value === time && !zone.value) action.value = 'keep';
      const saved = (page) => {
        dialog.close();
        update(page, `#${link.id}`);
      };
      send(form, event.submitter, saved, prepare);
    };
    form.onclick = (event) => {
      if (!event.target.closest('a')) return;
      event.preventDefault();
      dialog.close();
    };
    dialog.oncancel = (event) => {
      if (!form.dataset.changed || form.querySelector('.unsaved')) return;
      event.preventDefault();
      warn(form, 'Your changes are not saved. Press Escape again to discard them.');
      form.querySelector('.notice').classList.add('unsaved');
    };
    form.onkeydown = (event) => {
      if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) form.requestSubmit();
    };
    let timer;
    form.oninput = ({ target }) => {
      form.dataset.changed = 'changed';
      if (target.name !== 'city') return;
      // The city that was found for an earlier name is not meant.
      form.querySelector('[value="city"]').checked = true;
      clearTimeout(timer);
      timer = setTimeout(() => find(form), QUIET_MS);
    };
  }

  /** Offers the cities that the typed name begins. */
  async function find(form) {
    const field = form.querySelector('[name="city"]');
    const typed = field.value;
    // A pin that was moved meanwhile, or another choice, is kept.
    const isWanted = () => field.isConnected && field.value === typed && !form.querySelector(':is([value="keep"], [value="clear"], [value="coordinates"])[name="place"]:checked');
    if (!isWanted()) return;
    const page = await post(form, form.querySelector('[name="find"]')).catch(() => undefined);
    const cities = page?.querySelector('[aria-label="Cities"]');
    if (!cities || !isWanted()) return;
    const group = form.querySelector('[aria-label="Cities"]');
    const found = document.importNode(cities, true);
    for (const city of [...found.querySelectorAll('label')].slice(MAX_CITIES)) city.remove();
    if (group) group.replaceWith(found);
    else field.closest('.part').append(found);
    const chosen = found.querySelector(':checked');
    if (chosen) chosen.dispatchEvent(new Event('input', { bubbles: true }));
    else form.querySelector('[value="city"]').checked = true;
  }

  return (link) => (link.id === 'edit-description' || (link.hash === '' && present()) ? describe(link) : openSheet(link));
}
