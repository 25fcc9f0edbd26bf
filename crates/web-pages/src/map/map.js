// Moves the map. The page of each view comes from the server; while the map moves, only its clusters are loaded.

const map = document.getElementById('map');
const world = document.getElementById('world');
const status = document.getElementById('status');
const pointers = new Map();
/** What is shown: zoom, and the centre as shares of the world. One unit of the server is one pixel. */
let view;
/** The view that the outlines were drawn for. */
let drawn;
let width;
let height;
let pinch;
let dragged = false;
let restTimer;
let clusterTimer;
let request = 0;

const size = (zoom = view.zoom) => 256 * 2 ** zoom;
const clamp = (value, low, high) => Math.min(Math.max(value, low), high);
const shareOfLongitude = (longitude) => longitude / 360 + 0.5;
const shareOfLatitude = (latitude) => 0.5 - Math.asinh(Math.tan((latitude * Math.PI) / 180)) / (2 * Math.PI);
const latitudeOf = (y) => (Math.atan(Math.sinh((0.5 - y) * 2 * Math.PI)) * 180) / Math.PI;
const wrapped = (x) => x - Math.floor(x);
const nearest = (x) => wrapped(x - view.x + 0.5) - 0.5;

function viewOf(element) {
  const { z, lat, lon } = element.dataset;
  return { zoom: Number(z), x: shareOfLongitude(Number(lon)), y: shareOfLatitude(clamp(Number(lat), -85.05, 85.05)) };
}

const parameters = () =>
  `z=${view.zoom.toFixed(2)}&lat=${latitudeOf(view.y).toFixed(5)}&lon=${((wrapped(view.x) - 0.5) * 360).toFixed(5)}`;

/** Places everything for the present view. */
function place() {
  const scale = size() / size(drawn.zoom);
  const [x, y] = [nearest(drawn.x) * size(), (drawn.y - view.y) * size()];
  document.getElementById('ground').setAttribute('transform', `translate(${x} ${y}) scale(${scale})`);
  for (const link of document.getElementById('clusters').children) {
    const { lat, lon } = link.dataset;
    const [right, down] = [nearest(shareOfLongitude(+lon)), shareOfLatitude(+lat) - view.y].map((share) => share * size());
    link.setAttribute('transform', `translate(${right.toFixed(1)} ${down.toFixed(1)})`);
  }
}

/** Uses one pixel for each unit. */
function measure() {
  [width, height] = [map.clientWidth, map.clientHeight];
  world.setAttribute('viewBox', `${-width / 2} ${-height / 2} ${width} ${height}`);
}

/** Moves by pixels, and zooms around a point, given in pixels from the centre. */
function move(right, down, zoomBy = 0, aroundX = 0, aroundY = 0) {
  const before = size();
  view.zoom = clamp(view.zoom + zoomBy, Math.max(0, Math.log2(Math.min(width, height) / 256)), 18);
  const half = Math.min(height / 2 / size(), 0.5);
  view.x = wrapped(view.x + right / before + aroundX * (1 / before - 1 / size()));
  view.y = clamp(view.y + down / before + aroundY * (1 / before - 1 / size()), half, 1 - half);
  place();
  clusterTimer ??= setTimeout(loadClusters, 150);
  clearTimeout(restTimer);
  restTimer = setTimeout(() => visit(`/map?${parameters()}`, 'replaceState'), 350);
}

async function loadClusters() {
  clusterTimer = undefined;
  const present = request;
  const [halfWidth, halfHeight] = [width / 2 / size(), height / 2 / size()];
  const longitude = (x) => ((wrapped(x) - 0.5) * 360).toFixed(5);
  const sides = halfWidth < 0.5 ? [longitude(view.x - halfWidth), longitude(view.x + halfWidth)] : [-180, 180];
  const [south, north] = [view.y + halfHeight, view.y - halfHeight].map((y) => latitudeOf(y).toFixed(5));
  const url = `/web/map?z=${view.zoom.toFixed(2)}&bbox=${sides[0]},${south},${sides[1]},${north}`;
  const reply = await fetch(url).catch(() => undefined);
  if (!reply?.ok || present !== request) return;
  show((await reply.json()).clusters.map(link));
}

/** The link of a cluster. */
function link({ lat, lon, count, id, v, bbox, label }) {
  const [west, south, east, north] = bbox.map((degrees, side) => (degrees + (side < 2 ? -1e-5 : 1e-5)).toFixed(5));
  const element = (name, attributes, ...children) => {
    const made = document.createElementNS('http://www.w3.org/2000/svg', name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    made.append(...children);
    return made;
  };
  const tenths = (unit, sign) => (Math.floor(count / (unit / 10)) / 10).toFixed(1) + sign;
  const text =
    count < 1e3 ? `${count}` : count < 1e4 ? tenths(1e3, 'k') : count < 1e6 ? `${Math.floor(count / 1e3)}k` : tenths(1e6, 'M');
  const badge = 10 + 8 * text.length;
  const cover = { href: `/p/${id}/${v}/256.webp`, x: -22, y: -22, width: 44, height: 44, 'clip-path': 'url(#round)' };
  const pin = element('g', { class: 'pin' }, element('circle', { class: 'ring', r: 25 }));
  pin.append(element('image', { ...cover, preserveAspectRatio: 'xMidYMid slice' }));
  if (count > 1) {
    pin.append(element('rect', { class: 'count', x: 8, y: -30, width: badge, height: 19, rx: 9.5 }));
    pin.append(element('text', { class: 'count', x: 8 + badge / 2, y: -16 }, text));
  }
  const name = `${text} photo${count > 1 ? 's' : ''}${label ? ` near ${label}` : ''}`;
  const area = [clamp(west, -180, 180), clamp(south, -90, 90), clamp(east, -180, 180), clamp(north, -90, 90)];
  // The area of a cluster in a view of the world may be the world.
  const isWide = east - west > 90;
  const href = isWide ? `/map?z=${(view.zoom + 2).toFixed(2)}&lat=${lat}&lon=${lon}` : `/map?bbox=${area.join()}`;
  return element('a', { href, 'aria-label': name, 'data-lat': lat, 'data-lon': lon }, pin);
}

/** Shows clusters, and keeps the elements of those that were shown before. */
function show(links) {
  const key = ({ dataset, ariaLabel }) => [dataset.lat, dataset.lon, ariaLabel].map(Number.parseFloat).join();
  const group = document.getElementById('clusters');
  const old = new Map(Array.from(group.children, (shown) => [key(shown), shown]));
  const kept = links.map((made) => {
    const same = old.get(key(made));
    same?.setAttribute('href', made.getAttribute('href'));
    return same ?? made;
  });
  for (const shown of old.values()) if (!kept.includes(shown)) shown.remove();
  for (const shown of kept) if (shown.parentNode !== group) group.append(shown);
  place();
}

/** Shows the page of another view. */
async function visit(href, change) {
  clearTimeout(restTimer);
  clearTimeout(clusterTimer);
  clusterTimer = undefined;
  request += 1;
  const present = request;
  const url = new URL(href, location.href);
  const address = url.pathname + url.search;
  url.searchParams.set('w', Math.round(width));
  url.searchParams.set('h', Math.round(height));
  const reply = await fetch(url).catch(() => undefined);
  if (present !== request) return;
  if (!reply?.ok || reply.redirected) return void location.assign(address);
  const page = new DOMParser().parseFromString(await reply.text(), 'text/html');
  const next = page.getElementById('map');
  if (present !== request || pointers.size) return;
  if (!next) return void location.assign(address);
  const hadFocus = map.contains(document.activeElement);
  drawn = viewOf(next);
  view = { ...drawn };
  document.getElementById('ground').replaceChildren(...page.getElementById('ground').childNodes);
  show([...page.getElementById('clusters').children]);
  for (const id of ['controls', 'places', 'photos']) {
    const [old, fresh] = [document.getElementById(id), page.getElementById(id)];
    if (id === 'places') fresh.open = old.open;
    const focused = old.contains(document.activeElement) && document.activeElement.className;
    old.replaceWith(fresh);
    if (focused) fresh.querySelector(`a.${CSS.escape(focused)}`)?.focus();
  }
  if (hadFocus && !map.contains(document.activeElement)) map.querySelector('#controls a').focus();
  if (change) history[change](null, '', address);
  const places = document.getElementById('clusters').childElementCount;
  status.textContent = `${places} ${places === 1 ? 'place' : 'places'} with photos on the map`;
}

const fromCentre = ({ clientX, clientY }) => {
  const box = map.getBoundingClientRect();
  return [clientX - box.left - width / 2, clientY - box.top - height / 2];
};

/** The middle of all fingers, and their distance. */
function grip() {
  const [a, b = a] = [...pointers.values()];
  return { x: (a[0] + b[0]) / 2, y: (a[1] + b[1]) / 2, distance: Math.hypot(a[0] - b[0], a[1] - b[1]) };
}

map.addEventListener('pointerdown', (event) => {
  if (event.button !== 0 || event.target.closest('#controls a')) return;
  if (pointers.size === 0) dragged = false;
  pointers.set(event.pointerId, fromCentre(event));
  pinch = grip();
});

map.addEventListener('pointermove', (event) => {
  if (!pointers.has(event.pointerId)) return;
  const before = pinch;
  const at = fromCentre(event);
  const start = pointers.get(event.pointerId);
  if (!dragged && Math.hypot(at[0] - start[0], at[1] - start[1]) < 5) return;
  // Only now, because a captured pointer does not click a link.
  if (!map.hasPointerCapture(event.pointerId)) map.setPointerCapture(event.pointerId);
  dragged = true;
  pointers.set(event.pointerId, at);
  pinch = grip();
  const zoomBy = pointers.size > 1 && before.distance > 0 ? Math.log2(pinch.distance / before.distance) : 0;
  move(before.x - pinch.x, before.y - pinch.y, zoomBy, pinch.x, pinch.y);
});

for (const name of ['pointerup', 'pointercancel']) {
  // Also outside the map, where a pointer that was not captured may be released.
  addEventListener(name, (event) => {
    if (!pointers.delete(event.pointerId)) return;
    if (pointers.size) pinch = grip();
    else if (dragged) move(0, 0);
  });
}

map.addEventListener('dragstart', (event) => event.preventDefault());
map.addEventListener(
  'wheel',
  (event) => {
    event.preventDefault();
    const pixels = event.deltaY * (event.deltaMode ? 24 : 1);
    move(0, 0, clamp(-pixels / (event.ctrlKey ? 80 : 300), -1, 1), ...fromCentre(event));
  },
  { passive: false },
);

addEventListener('click', (event) => {
  const link = event.target.closest('#map a, #places a, #photos > p a');
  if (!link || event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
  event.preventDefault();
  if (!dragged || link.closest('#controls') || !map.contains(link)) visit(link.getAttribute('href'), 'pushState');
});

map.addEventListener('keydown', (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const step = Math.min(width, height) / 4;
  const moves = {
    ArrowLeft: [-step, 0],
    ArrowRight: [step, 0],
    ArrowUp: [0, -step],
    ArrowDown: [0, step],
    '+': [0, 0, 1],
    '=': [0, 0, 1],
    '-': [0, 0, -1],
  };
  if (!Object.hasOwn(moves, event.key)) return;
  event.preventDefault();
  move(...moves[event.key]);
});

addEventListener('popstate', () => visit(location.href));

new ResizeObserver(() => {
  measure();
  place();
  clusterTimer ??= setTimeout(loadClusters, 150);
}).observe(map);

drawn = viewOf(map);
// Without the script, the shorter side of the map shows 512 units.
measure();
view = { ...drawn, zoom: drawn.zoom + Math.log2(Math.min(width, height) / 512) };
map.classList.add('moves');
world.setAttribute('aria-label', 'Map of your photos. Arrow keys move it, plus and minus zoom.');
