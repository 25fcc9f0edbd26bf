// Changes the theme without a new page, so that the place in the timeline stays.

const themeForm = document.querySelector('form.theme');
let isChangingTheme = false;

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
  document.documentElement.dataset.theme = submitter.value;
  for (const button of themeForm.querySelectorAll('button')) button.ariaPressed = button === submitter;
  const { backgroundColor } = getComputedStyle(document.body);
  for (const meta of document.querySelectorAll('[name="theme-color"]')) {
    meta.content = backgroundColor;
    meta.removeAttribute('media');
  }
});
