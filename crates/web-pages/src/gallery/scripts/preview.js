// Photos from the place of the timeline under the mouse, beside the slider. Loads when the mouse first reaches it.

/** Time without movement after which photos are loaded. */
const QUIET_MS = 80;
const PHOTOS = 4;

/**
 * Shows photos beside `slider`, first where the pointer entered it. `placeAt(y)` is the month and the time at a height in the window, if
 * there is one.
 */
export function startPreview(slider, placeAt, entered) {
  const month = make('p');
  const photos = make('div', {}, ...Array.from({ length: PHOTOS }, () => make('img', { alt: '' })));
  const box = make('div', { className: 'preview', hidden: true, ariaHidden: 'true' }, month, photos);
  slider.after(box);
  let timer;
  let request;

  const hide = () => {
    clearTimeout(timer);
    request?.abort();
    box.hidden = true;
  };

  async function load(time) {
    const { signal } = (request = new AbortController());
    const { id, v, newer } = await requestJson(`/web/months/around?at=${time}`, { signal }).catch(() => ({ id: [] }));
    if (signal.aborted) return;
    if (!id.length) return void hide();
    const first = Math.max(0, Math.min(newer, id.length - PHOTOS));
    [...photos.children].forEach((image, place) => {
      const at = first + place;
      image.hidden = at >= id.length;
      if (!image.hidden) image.src = `/p/${id[at]}/${v[at]}/256.webp`;
    });
  }

  function move({ clientY, pointerType, buttons }) {
    const place = pointerType === 'mouse' && !buttons && placeAt(clientY);
    if (!place) return void hide();
    clearTimeout(timer);
    request?.abort();
    if (month.textContent !== place.name) for (const image of photos.children) image.removeAttribute('src');
    month.textContent = place.name;
    box.hidden = false;
    const { height } = box.getBoundingClientRect();
    box.style.top = `${Math.max(8, Math.min(innerHeight - height - 8, clientY - height / 2)) - slider.getBoundingClientRect().top}px`;
    timer = setTimeout(load, QUIET_MS, place.time);
  }

  slider.addEventListener('pointermove', move);
  if (slider.matches(':hover')) move(entered);
  for (const name of ['pointerleave', 'pointerdown']) slider.addEventListener(name, hide);
  document.addEventListener('keydown', hide);
}
