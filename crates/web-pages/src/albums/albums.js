// Finds albums while a title is typed, counts the photos that are picked for an album, and offers one photo as the cover.

const say = (text) => (document.getElementById('status').textContent = text);
const counted = (count, name) => `${count.toLocaleString('en-GB')} ${name}${count === 1 ? '' : 's'}`;

/** Time without typing after which the number of albums is reported. */
const QUIET_MS = 400;

/** A text without letter case, accents and separators, as the service compares titles. */
const MARKS = /[\p{M}\p{P}\p{Z}]/gu;
const fold = (text) => text.normalize('NFKD').replace(MARKS, '').toUpperCase().toLowerCase();

const field = document.getElementById('find-album');
if (field) {
  const albums = [...document.querySelectorAll('.covers > li')].map((item) => [item, fold(item.querySelector('.name').textContent)]);
  let timer;
  field.addEventListener('input', () => {
    const text = fold(field.value);
    for (const [item, title] of albums) item.hidden = !title.includes(text);
    const count = albums.filter(([item]) => !item.hidden).length;
    document.querySelector('.unfound').hidden = count > 0;
    const address = new URL(location);
    address.searchParams.set('q', field.value);
    // The browser limits how often this may be called.
    clearTimeout(timer);
    timer = setTimeout(() => {
      history.replaceState(history.state, '', address);
      say(counted(count, 'album'));
    }, QUIET_MS);
  });
}

const add = document.getElementById('add-picked');
if (add) {
  const { form } = add;
  add.parentElement.querySelector('span')?.remove();
  const update = () => {
    const count = form.querySelectorAll('input[name="image"]:is([type="hidden"], :checked)').length;
    add.textContent = count ? `Add ${counted(count, 'photo')} to “${add.dataset.album}”` : `Add to “${add.dataset.album}”`;
  };
  // After ranges with Shift, too, which another script selects.
  form.addEventListener('click', () => setTimeout(update));
  addEventListener('pageshow', update);
  update();
}

const cover = document.querySelector('.actions > .cover');
if (cover) {
  const update = () => (cover.hidden = cover.form.querySelectorAll('input[name="image"]:checked').length !== 1);
  cover.form.addEventListener('click', () => setTimeout(update));
  addEventListener('pageshow', update);
  update();
}
