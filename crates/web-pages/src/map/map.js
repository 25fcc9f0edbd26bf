// Moves the map. The server renders the page of each view. While the map moves, only its clusters are loaded.

const MAP_KEYS = [
  ['Arrows', 'Move the map that has the focus'],
  ['+, -', 'Zoom the map that has the focus'],
];
const MAX_MAP_ZOOM = 18;
/** The pause between requests while the map moves, and the time without movement after which the map is at rest. */
const CLUSTERS_MS = 150;
const MAP_REST_MS = 350;
function startMap(map) {
  pageKeys.unshift(...MAP_KEYS);
  const [world, ground, clusters] = ['world', 'ground', 'clusters'].map((id) => document.getElementById(id));
  const viewOf = ({ dataset: { z, x, y } }) => ({ zoom: Number(z), x: Number(x), y: Number(y) });
  /** The view that the outlines were drawn for: zoom, and the centre as shares of the world. */
  let drawn = viewOf(map);
  /** The view that is shown. With the script, one unit of the server is one pixel. */
  let view;
  let width;
  let height;
  let restTimer;
  let clusterTimer;
  let request = 0;
  /** Counts movements. A page that loads during one is too late: it would take the movement back. */
  let movements = 0;

  const size = (zoom = view.zoom) => 256 * 2 ** zoom;
  const wrapped = (x) => x - Math.floor(x);
  const parameters = () => {
    const latitude = (Math.atan(Math.sinh((0.5 - view.y) * 2 * Math.PI)) * 180) / Math.PI;
    return `z=${view.zoom.toFixed(2)}&lat=${latitude.toFixed(5)}&lon=${((wrapped(view.x) - 0.5) * 360).toFixed(5)}`;
  };
  /** Adds the size of the map to an address. */
  const sized = (address) => `${address}${address.includes('?') ? '&' : '?'}w=${width}&h=${height}`;

  /** Moves the outlines and the clusters to their places in the present view. */
  function place() {
    const move = (element, { x, y }, scale = 1) => {
      const [right, down] = [wrapped(x - view.x + 0.5) - 0.5, y - view.y].map((share) => share * size());
      element.setAttribute('transform', `translate(${right} ${down}) scale(${scale})`);
    };
    move(ground, drawn, size() / size(drawn.zoom));
    for (const link of clusters.children) move(link, link.dataset);
  }

  function loadClustersLater() {
    clusterTimer ??= setTimeout(loadClusters, CLUSTERS_MS);
  }

  /** Moves by pixels, and zooms around a point, given in pixels from the centre. */
  function move(right, down, zoomBy = 0, aroundX = 0, aroundY = 0) {
    movements += 1;
    const before = size();
    view.zoom = clamp(view.zoom + zoomBy, Math.max(0, Math.log2(Math.min(width, height) / 256)), MAX_MAP_ZOOM);
    const half = Math.min(height / 2 / size(), 0.5);
    const change = 1 / before - 1 / size();
    view.x = wrapped(view.x + right / before + aroundX * change);
    view.y = clamp(view.y + down / before + aroundY * change, half, 1 - half);
    place();
    loadClustersLater();
    clearTimeout(restTimer);
    restTimer = setTimeout(() => visit(`/map?${parameters()}`, 'replaceState'), MAP_REST_MS);
  }

  async function loadClusters() {
    clusterTimer = undefined;
    const present = request;
    const answer = await requestJson(sized(`/web/map?${parameters()}`)).catch(() => undefined);
    if (!answer || present !== request) return;
    const made = document.createElementNS(clusters.namespaceURI, 'g');
    made.innerHTML = answer.clusters.map(({ link }) => link).join('');
    show(made);
  }

  /** Shows clusters, and keeps the elements of those that were shown before. */
  function show({ children }) {
    const key = ({ dataset, ariaLabel }) => `${dataset.x} ${dataset.y} ${ariaLabel}`;
    const old = new Map(Array.from(clusters.children, (shown) => [key(shown), shown]));
    const kept = Array.from(children, (made) => {
      const same = old.get(key(made));
      same?.setAttribute('href', made.getAttribute('href'));
      return same ?? made;
    });
    for (const shown of old.values()) if (!kept.includes(shown)) shown.remove();
    clusters.append(...kept.filter(({ parentNode }) => parentNode !== clusters));
    place();
  }

  /** Shows the page of another view. */
  async function visit(href, change) {
    clearTimeout(restTimer);
    clusterTimer = clearTimeout(clusterTimer);
    request += 1;
    const [present, moved] = [request, movements];
    const reply = await fetch(sized(href)).catch(() => undefined);
    const text = reply?.ok && !reply.redirected && (await reply.text());
    if (present !== request || moved !== movements || gestures.isActive) return;
    const page = new DOMParser().parseFromString(text || '', 'text/html');
    const next = page.getElementById('map');
    if (!next) return void location.assign(href);
    const hadFocus = map.contains(document.activeElement);
    drawn = viewOf(next);
    view = { ...drawn };
    // The present ground fades away above the next one.
    if (!matchMedia('(prefers-reduced-motion: reduce)').matches) {
      const old = ground.cloneNode(true);
      for (const part of [old, ...old.querySelectorAll('[id]')]) part.removeAttribute('id');
      old.onanimationend = () => old.remove();
      document.getElementById('old').replaceChildren(old);
    }
    ground.replaceChildren(...page.getElementById('ground').childNodes);
    show(page.getElementById('clusters'));
    for (const id of ['controls', 'places', 'photos']) {
      const [old, fresh] = [document, page].map((page) => page.getElementById(id));
      if (id === 'places') fresh.open = old.open;
      const focused = old.contains(document.activeElement) && document.activeElement.className;
      old.replaceWith(fresh);
      if (focused) fresh.querySelector(`a.${CSS.escape(focused)}`)?.focus();
    }
    if (hadFocus && !map.contains(document.activeElement)) map.querySelector('#controls a').focus();
    if (change) history[change](null, '', href);
    const places = clusters.childElementCount;
    announce(`${places} ${places === 1 ? 'place' : 'places'} with photos on the map`);
  }

  const gestures = new Gestures(map, {
    accepts: ({ type, target }) => type === 'wheel' || !target.closest('#controls a'),
    moved: ({ right, down, scale, x, y }) => move(-right, -down, Math.log2(scale), x, y),
    ended: () => gestures.hasMoved && move(0, 0),
  });

  addEventListener('click', (event) => {
    const link = event.target.closest('#map a, #places a, #photos > p a');
    if (!link || !isPlainClick(event)) return;
    event.preventDefault();
    if (!gestures.hasMoved || link.closest('#controls') || !map.contains(link)) visit(link.getAttribute('href'), 'pushState');
  });

  map.addEventListener('keydown', (event) => {
    if (event.altKey || hasModifier(event)) return;
    const step = Math.min(width, height) / 4;
    const by = {
      ArrowLeft: [-step, 0],
      ArrowRight: [step, 0],
      ArrowUp: [0, -step],
      ArrowDown: [0, step],
      '+': [0, 0, 1],
      '=': [0, 0, 1],
      '-': [0, 0, -1],
    }[event.key];
    if (!by) return;
    event.preventDefault();
    move(...by);
  });

  addEventListener('popstate', () => visit(location.pathname + location.search));

  /** Measures the map, and makes one unit of the drawing one pixel. */
  function measure() {
    [width, height] = [map.clientWidth, map.clientHeight];
    world.setAttribute('viewBox', `${-width / 2} ${-height / 2} ${width} ${height}`);
  }
  measure();
  // Without the script, the shorter side of the map shows 512 units.
  view = { ...drawn, zoom: drawn.zoom + Math.log2(Math.min(width, height) / 512) };
  new ResizeObserver(() => {
    measure();
    place();
    loadClustersLater();
  }).observe(map);
  map.classList.add('moves');
  world.setAttribute('aria-label', 'Map of your photos. Arrow keys move it, plus and minus zoom.');
}
