// Elements, requests, and messages to the user.

const numberFormat = new Intl.NumberFormat('en-GB');
const photosText = (count) => `${numberFormat.format(count)} ${count === 1 ? 'photo' : 'photos'}`;

const dateFormat = (options) => new Intl.DateTimeFormat('en-GB', { timeZone: 'UTC', month: 'long', year: 'numeric', ...options }).format;
/** Format "July 2026", "14 July 2026" and "Tue 14 July". The UTC fields of the argument are the local time. */
const monthText = dateFormat();
const dateText = dateFormat({ day: 'numeric' });
const weekdayText = dateFormat({ day: 'numeric', weekday: 'short', year: undefined });
const dayText = (time) => weekdayText(time).replace(',', '');

/** An element with properties and children. */
function make(name, properties = {}, ...children) {
  const element = Object.assign(document.createElement(name), properties);
  element.append(...children);
  return element;
}

/** A button that is not part of a form. */
const makeButton = (text, onclick, className = 'quiet') => make('button', { type: 'button', textContent: text, className, onclick });

/** A button with a cross. */
const makeClose = (ariaLabel, onclick) => make('button', { type: 'button', className: 'plain close', ariaLabel, onclick });

const NO_ANSWER = 'The photo library does not respond. Check the connection and try again.';

/** Requests JSON, with a body if there is one. Throws an error with a message for the user. */
async function requestJson(path, { signal, body, keepalive } = {}) {
  const headers = { accept: 'application/json', ...(body && { 'content-type': 'application/json' }) };
  const options = { signal, keepalive, headers, ...(body && { method: 'POST', body: JSON.stringify(body) }) };
  const answer = await fetch(path, options).catch((error) => {
    if (error.name === 'AbortError') throw error;
    throw new Error(NO_ANSWER);
  });
  // The session has ended. The service redirects the reloaded page to sign-in. An upload says so itself, and goes on after it.
  if (answer.status === 401 && !document.querySelector('#tray:is([data-state="sending"], [data-state="paused"])')) location.reload();
  if (answer.ok) return answer.json();
  const { error } = await answer.json().catch(() => ({}));
  throw new Error(error ?? `The photo library answered with an error (${answer.status}). Try again.`);
}

const MESSAGE_MS = 20_000;
let messageTimer;

/** Reports to screen readers only. */
function announce(text) {
  document.getElementById('status').textContent = text;
}

/** Shows a message, with an action if there is one. */
function showMessage(text, label, action) {
  hideMessage();
  const actions = action ? [makeButton(label, () => (hideMessage(), action()))] : [];
  const message = make('div', { id: 'message' }, make('p', {}, text), ...actions, makeClose('Dismiss', hideMessage));
  document.querySelector('main').append(message);
  announce(label ? `${text} ${label} is at the end of the page.` : text);
  messageTimer = setTimeout(hideMessage, MESSAGE_MS);
}

function hideMessage() {
  clearTimeout(messageTimer);
  document.getElementById('message')?.remove();
}

/** Opens a dialog with this content and returns it. When it closes, it is removed and the focus returns to its earlier place. */
function openDialog(heading, ...content) {
  const properties = { className: 'library-dialog', ariaLabel: heading, onclose: () => dialog.remove() };
  const dialog = make('dialog', properties, make('h2', {}, heading), ...content);
  dialog.addEventListener('click', ({ target }) => target === dialog && dialog.close());
  document.body.append(dialog);
  dialog.showModal();
  return dialog;
}

/** A form with one field for a dialog. Submitting the form closes the dialog. */
const dialogForm = (field, label, onsubmit) => make('form', { method: 'dialog', onsubmit }, field, make('button', {}, label));
