// Photos from the time under the pointer, beside the slider: a module that loads when the mouse first reaches the slider.

import { make, monthText, requestJson } from './shared.js';

/** Time without movement after which photos are loaded. */
const QUIET_MS = 80;
const PHOTOS = 4;

/** Shows photos beside `slider`, in the element of both. `timeAt(y)` is the time of a place in the window. */
export function startPreview(slider, timeAt) {
  const [month, photos] = [make('p'), make('div')];
  const box = make('div', { className: 'preview', hidden: true, ariaHidden: 'true' }, month, photos);
  slider.after(box);
  let timer;
  let request;

  const hide = () => {
    clearTimeout(timer);
    request?.abort();
    box.hidden = true;
  };

  async function show(y) {
    const time = timeAt(y);
    const { signal } = (request = new AbortController());
    const { id, v } = await requestJson(`/web/months/around?at=${time}`, { signal }).catch(() => ({ id: [] }));
    if (signal.aborted || !id.length) return;
    // The photos of the answer are as many newer as older ones, except at the ends of the library.
    const first = Math.max(0, Math.min(id.length - PHOTOS, (id.length >> 1) - PHOTOS / 2));
    const images = id.slice(first, first + PHOTOS).map((name, place) => make('img', { src: `/p/${name}/${v[first + place]}/256.webp`, alt: '' }));
    month.textContent = monthText(time);
    photos.replaceChildren(...images);
    box.hidden = false;
    const { height } = box.getBoundingClientRect();
    box.style.top = `${Math.max(8, Math.min(innerHeight - height - 8, y - height / 2)) - slider.getBoundingClientRect().top}px`;
  }

  slider.addEventListener('pointermove', ({ clientY, pointerType, buttons }) => {
    clearTimeout(timer);
    request?.abort();
    if (pointerType !== 'mouse' || buttons) return hide();
    timer = setTimeout(show, QUIET_MS, clientY);
    return undefined;
  });
  for (const name of ['pointerleave', 'pointerdown', 'keydown']) slider.addEventListener(name, hide);
}
