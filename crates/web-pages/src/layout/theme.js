// Changes the theme without a new page, so that what the page shows stays: the place in the timeline, or a key that is shown once.
// Other tabs, and pages that Back shows again, follow.

const themeForm = document.querySelector('form.theme');
const CHOSEN_THEME = 'theme';
let isChangingTheme = false;

function showTheme(theme) {
  const { dataset } = document.documentElement;
  if (theme === 'system') delete dataset.theme;
  else dataset.theme = theme;
  for (const button of themeForm.querySelectorAll('button[name]')) button.ariaPressed = button.value === theme;
  const { backgroundColor } = getComputedStyle(document.body);
  for (const meta of document.querySelectorAll('[name=theme-color]')) {
    meta.content = backgroundColor;
    meta.removeAttribute('media');
  }
}

themeForm?.addEventListener('submit', async (event) => {
  event.preventDefault();
  if (isChangingTheme) return;
  isChangingTheme = true;
  const { submitter } = event;
  const body = new URLSearchParams(new FormData(themeForm, submitter));
  const answer = await fetch(themeForm.action, { method: 'POST', body, redirect: 'manual' }).catch(() => undefined);
  isChangingTheme = false;
  if (!answer) return showMessage('The photo library does not respond. Check the connection and try again.');
  // Otherwise the form was rejected.
  if (answer.type !== 'opaqueredirect') return location.reload();
  showTheme(submitter.value);
  try {
    localStorage.setItem(CHOSEN_THEME, submitter.value);
  } catch {
    // Storage is disabled.
  }
});

addEventListener('storage', ({ key, newValue }) => themeForm && key === CHOSEN_THEME && newValue && showTheme(newValue));
addEventListener('pageshow', ({ persisted }) => {
  if (!persisted || !themeForm) return;
  try {
    const theme = localStorage.getItem(CHOSEN_THEME);
    if (theme) showTheme(theme);
  } catch {
    // Storage is disabled.
  }
});
