// Requests, and messages to the user (timeline.js).

const numberFormat = new Intl.NumberFormat('en-GB');
const photosText = (count) => `${numberFormat.format(count)} ${count === 1 ? 'photo' : 'photos'}`;
const MONTHS = 'January February March April May June July August September October November December'.split(' ');

/** "14 July 2026" of a time whose UTC fields are the wall clock. */
const dateText = (ms) => {
  const date = new Date(ms);
  return `${date.getUTCDate()} ${MONTHS[date.getUTCMonth()]} ${date.getUTCFullYear()}`;
};

/** An element with properties and children. */
function make(name, properties = {}, ...children) {
  const element = Object.assign(document.createElement(name), properties);
  element.append(...children);
  return element;
}

/** A button that is not part of a form. */
const makeButton = (text, onclick, className = 'quiet') => make('button', { type: 'button', textContent: text, className, onclick });

/** Requests JSON. Throws an error with a message for the user. */
async function requestJson(path, options = {}) {
  const answer = await fetch(path, { headers: { accept: 'application/json' }, ...options }).catch((error) => {
    if (error.name === 'AbortError') throw error;
    throw new Error('The photo library does not respond. Check the connection and try again.');
  });
  // The session has ended: the page leads to sign-in.
  if (answer.status === 401) location.reload();
  const body = await answer.json().catch((error) => {
    // Not an answer without photos.
    if (error.name === 'AbortError') throw error;
    return {};
  });
  if (!answer.ok) throw new Error(body.error ?? `The photo library answered with an error (${answer.status}). Try again.`);
  return body;
}

const postJson = (path, body) =>
  requestJson(path, { method: 'POST', body: JSON.stringify(body), headers: { 'content-type': 'application/json', accept: 'application/json' } });

const MESSAGE_MS = 20_000;
let messageTimer;

/** Reports to screen readers only. */
function announce(text) {
  const status = document.getElementById('status');
  if (status) status.textContent = text;
}

/** Shows a message, with an action if there is one. */
function showMessage(text, label, action) {
  hideMessage();
  const close = makeButton('', hideMessage, 'plain close');
  close.ariaLabel = 'Dismiss';
  const message = make('div', { id: 'message' }, make('p', { textContent: text }));
  if (action) message.append(makeButton(label, () => (hideMessage(), action())));
  message.append(close);
  document.body.append(message);
  announce(label ? `${text} ${label} is at the end of the page.` : text);
  messageTimer = setTimeout(hideMessage, MESSAGE_MS);
}

function hideMessage() {
  clearTimeout(messageTimer);
  document.getElementById('message')?.remove();
}

/** Opens a dialog with this content and returns it. It is removed when it closes; then the focus is where it was. */
function openDialog(heading, ...content) {
  const title = make('h2', { textContent: heading, id: 'dialog-title' });
  const dialog = make('dialog', { className: 'library-dialog' }, title, ...content);
  dialog.setAttribute('aria-labelledby', title.id);
  dialog.addEventListener('close', () => dialog.remove());
  dialog.addEventListener('click', ({ target }) => target === dialog && dialog.close());
  document.body.append(dialog);
  dialog.showModal();
  return dialog;
}
