// Keys on all pages. Single letters as shortcuts can be off, because some people speak to their computer, or hit keys by accident.

const LETTERS = 'photo-library-letters';

function areLettersOn() {
  try {
    return localStorage.getItem(LETTERS) !== 'off';
  } catch {
    return true;
  }
}

/** Whether a key belongs to the control that has the focus, or to an open dialog. */
const isTyping = ({ altKey, target }) =>
  altKey || document.querySelector('dialog[open]') || target.closest('select, textarea, input:not([type="checkbox"], [type="range"])');

const hasModifier = ({ ctrlKey, metaKey }) => ctrlKey || metaKey;

/** Whether a click opens a link in this window. */
const isPlainClick = (event) => !(event.button || event.shiftKey || event.altKey || hasModifier(event));
