// Keys on all pages. Shortcuts of a single letter can be disabled, because speech input or accidental presses could trigger them.

const LETTERS = 'photo-library-letters';
/** The keys that the help lists. The script of a page adds its own. */
const pageKeys = [['/', 'Search'], ['?', 'Show these keys']];

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

/** Moves the focus to the search field, or opens the search page if this page shows no such field. */
function goToSearch() {
  const field = document.getElementById('q');
  if (!field?.checkVisibility()) return location.assign('/search');
  field.focus();
  return field.select();
}

function showHelp() {
  const rows = pageKeys.flatMap(([key, text]) => [make('dt', {}, ...key.split(', ').map((name) => make('kbd', {}, name))), make('dd', {}, text)]);
  const list = make('dl', { className: 'keys' }, ...rows);
  const onchange = () => localStorage.setItem(LETTERS, check.checked ? 'on' : 'off');
  const check = make('input', { type: 'checkbox', checked: areLettersOn(), onchange });
  const close = makeButton('Close', () => dialog.close());
  const dialog = openDialog('Keys', list, make('label', { className: 'check' }, check, 'Single letters are shortcuts'), make('div', { className: 'buttons' }, close));
  close.focus();
}

document.addEventListener('keydown', (event) => {
  const action = { '/': goToSearch, '?': showHelp }[event.key];
  if (!action || isTyping(event) || hasModifier(event) || !areLettersOn()) return;
  event.preventDefault();
  action();
});
