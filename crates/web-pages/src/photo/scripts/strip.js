// The filmstrip of the photo page: as many photos around the present one as fit. A module that loads after the photo.

import { make, requestJson } from './shared.js';

const TILE_PX = 52;

/** `open(address)` shows a photo. */
export function startStrip(main, open) {
  const list = make('ul');
  const strip = make('nav', { className: 'strip', ariaLabel: 'Nearby photos' }, list);
  let photos = { id: [], v: [], alt: [] };
  let asked;
  main.append(strip);

  /** The address of a photo that is opened from the same place as the present one. */
  function addressOf(id) {
    const query = new URLSearchParams(location.search);
    for (const name of ['done', 'edit']) query.delete(name);
    return `/photos/${id}${query.size ? `?${query}` : ''}`;
  }

  function draw() {
    const { id } = main.dataset;
    const here = photos.id.indexOf(id);
    const room = Math.floor((strip.clientWidth - 16) / TILE_PX);
    if (here < 0 || room < 1) return list.replaceChildren();
    const first = Math.max(0, here - (room >> 1));
    const shown = photos.id.slice(first, here + (room >> 1) + 1).slice(0, room);
    const known = new Map([...list.children].map((item) => [item.dataset.id, item]));
    const hasFocus = list.contains(document.activeElement);
    for (const [name, item] of known) if (!shown.includes(name)) item.remove();
    // A tile that stays is not moved: while it is pressed, that would lose the click.
    let next = list.firstChild;
    for (const [place, id] of shown.entries()) {
      if (next?.dataset.id === id) next = next.nextSibling;
      else list.insertBefore(known.get(id) ?? makeTile(id, first + place), next);
    }
    for (const { dataset, firstChild } of list.children) firstChild.ariaCurrent = dataset.id === id ? 'page' : null;
    if (hasFocus) list.querySelector('[aria-current]').focus({ preventScroll: true });
    return undefined;
  }

  function makeTile(id, place) {
    const image = make('img', { src: `/p/${id}/${photos.v[place]}/256.webp`, alt: photos.alt[place], decoding: 'async' });
    const item = make('li', {}, make('a', { href: addressOf(id), draggable: false }, image));
    item.dataset.id = id;
    return item;
  }

  /** Shows the photos around the present one. They are loaded again near an end of the known ones, and after one has moved. */
  async function update(isMoved) {
    const { id, t } = main.dataset;
    const here = photos.id.indexOf(id);
    draw();
    const isInside = here > 15 && here < photos.id.length - 16;
    if ((!isMoved && (isInside || asked === t)) || getComputedStyle(strip).display === 'none') return;
    asked = t;
    const answer = await requestJson(`/web/months/around?at=${t}`).catch(() => undefined);
    if (!answer) return;
    photos = answer;
    draw();
  }

  strip.addEventListener('click', (event) => {
    const link = event.target.closest('a');
    if (!link || event.button || event.shiftKey || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    open(link.href);
  });
  new ResizeObserver(() => update()).observe(strip);
  return update;
}
