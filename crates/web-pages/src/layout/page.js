'use strict';

/** Other pages have a place for messages. */
const showMessage = alert;

// Times in the time zone of the browser.
const day = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'long', year: 'numeric' });
const clock = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', timeZoneName: 'short' });
for (const time of document.querySelectorAll('time')) {
  const at = new Date(time.dateTime);
  if (Number.isNaN(at.getTime())) continue;
  const isMinute = time.dataset.precision === 'minute';
  time.textContent = isMinute ? `${day.format(at)}, ${clock.format(at)}` : day.format(at);
}

// Copy buttons.
const SHOWN_MS = 3000;

/** Copies the selected text. Browsers offer the clipboard API over https and on localhost only. */
async function copySelection(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return document.execCommand('copy');
  }
}

function select(element) {
  const range = document.createRange();
  range.selectNodeContents(element);
  const selection = getSelection();
  selection.removeAllRanges();
  selection.addRange(range);
}

for (const holder of document.querySelectorAll('[data-copy]')) {
  const code = holder.querySelector('code');
  const name = `Copy ${holder.dataset.copy}`;
  const button = document.createElement('button');
  button.type = 'button';
  button.className = 'quiet';
  const status = document.createElement('span');
  status.className = 'unseen';
  status.setAttribute('role', 'status');
  const rest = () => {
    button.textContent = 'Copy';
    button.setAttribute('aria-label', name);
    status.textContent = '';
  };
  let timer;
  button.addEventListener('click', async () => {
    clearTimeout(timer);
    select(code);
    const isCopied = await copySelection(code.textContent);
    if (isCopied) getSelection().removeAllRanges();
    button.removeAttribute('aria-label');
    button.textContent = isCopied ? 'Copied' : 'Press Ctrl+C';
    status.textContent = isCopied ? 'Copied to the clipboard' : 'The text is selected. Press Ctrl+C to copy it.';
    timer = setTimeout(rest, SHOWN_MS);
  });
  rest();
  holder.append(button, status);
}
