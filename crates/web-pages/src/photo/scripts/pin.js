// The map on which the place of a photo is chosen: a pin that is dragged, moved by keys, or put where the map is clicked. The server
// draws the map.

/** The view box of the map. */
const [WIDTH, HEIGHT] = [400, 256];
/** The part of the map that the pin does not leave, from its middle. */
const [INNER_X, INNER_Y] = [WIDTH * 0.4, HEIGHT * 0.35];
const MAX_ZOOM = 18;
/** The least zoom at which a city is shown. */
const CITY_ZOOM = 9;
/** Time without a movement after which the map is drawn, and the place is named. */
const REST_MS = 200;
/** The pixels of an arrow key, without and with Shift. */
const STEPS = [6, 48];
const KEYS = 'Arrow keys move it, with Shift farther; plus and minus zoom.';
const UNSET = 'No place yet. Move the pin, or choose a point of the map.';

const clamp = (value, low, high) => Math.min(high, Math.max(low, value));
const wrapped = (x) => x - Math.floor(x);
/** The share of the world's height before a latitude, whose map ends near the poles. */
const heightOf = (latitude) => clamp(0.5 - Math.asinh(Math.tan((latitude * Math.PI) / 180)) / (2 * Math.PI), 0, 1);
const latitudeOf = (y) => (Math.atan(Math.sinh((0.5 - y) * 2 * Math.PI)) * 180) / Math.PI;
/** Degrees with about a metre of precision. */
const rounded = (degrees) => Number(degrees.toFixed(5));
/** How the service understands degrees. */
const DEGREES = /^-?\d+(\.\d+)?$/;
/** The latitude at the edges of the map. */
const LAST_LATITUDE = 85.0511;
const inWords = (degrees, [positive, negative]) => `${Math.abs(degrees).toFixed(4)}° ${degrees < 0 ? negative : positive}`;

/** Makes the map of a form, and returns a function that puts it into the form, also after its fields were replaced, and returns the pin. */
function makePin(form, Gestures) {
  const field = (name) => form.querySelector(`[name="${name}"]`);
  const map = make('div', { className: 'pin-map spot' });
  map.innerHTML = `<svg class="earth" viewBox="${-WIDTH / 2} ${-HEIGHT / 2} ${WIDTH} ${HEIGHT}" aria-hidden="true"><g></g></svg>`;
  const ground = map.querySelector('g');
  const pin = make('div', { className: 'here', role: 'slider', tabIndex: 0, ariaLabel: 'Pin', ariaDescription: KEYS, ariaRoleDescription: 'pin on a map' });
  const text = make('p', { className: 'near', role: 'status' });
  const zoomButton = (className, ariaLabel, by) => make('button', { type: 'button', className: `quiet ${className}`, ariaLabel, title: ariaLabel, onclick: () => zoomBy(by) });
  const [closer, wider] = [zoomButton('in', 'Zoom in', 1), zoomButton('out', 'Zoom out', -1)];
  map.append(pin, make('div', { className: 'zoom' }, closer, wider));

  /** The part that is shown, and the part that is drawn: zoom, and the centre as shares of the world. */
  const start = new URLSearchParams(form.dataset.map);
  const view = { zoom: Number(start.get('z')), x: wrapped(start.get('lon') / 360 + 0.5), y: heightOf(start.get('lat')) };
  let drawn;
  /** The place of the pin, in degrees; without one, the pin is in the middle. */
  let at;
  let isSeen;
  let timer;
  let request = 0;

  const size = (zoom = view.zoom) => 256 * 2 ** zoom;
  /** The units of the map in a pixel. */
  const scale = () => WIDTH / map.clientWidth;
  const pointOf = ([latitude, longitude]) => ({ x: wrapped(longitude / 360 + 0.5), y: heightOf(latitude) });
  /** The units from the middle of the map to a point: to the nearest of its copies. */
  const units = ({ x, y }) => [wrapped(x - view.x + 0.5) - 0.5, y - view.y].map((share) => share * size());

  function show() {
    const [right, down] = at ? units(pointOf(at)) : [0, 0];
    isSeen = Math.abs(right) <= WIDTH / 2 && Math.abs(down) <= HEIGHT / 2 + 1;
    // Outside of the map, it is at the edge.
    pin.style.left = `${50 + clamp(right / WIDTH, -0.5, 0.5) * 100}%`;
    pin.style.top = `${50 + clamp(down / HEIGHT, -0.5, 0.5) * 100}%`;
    pin.classList.toggle('away', !isSeen);
    pin.classList.toggle('unset', !at);
    pin.setAttribute('aria-valuemin', -180);
    pin.setAttribute('aria-valuemax', 180);
    pin.setAttribute('aria-valuenow', at ? at[1] : rounded((view.x - 0.5) * 360));
    pin.setAttribute('aria-valuetext', at ? `${inWords(at[0], 'NS')}, ${inWords(at[1], 'EW')}` : 'no place');
    // A disabled button would lose the focus.
    closer.ariaDisabled = view.zoom >= MAX_ZOOM;
    wider.ariaDisabled = view.zoom <= 0;
    if (!drawn) return;
    const [across, along] = units(drawn);
    ground.setAttribute('transform', `translate(${across} ${along}) scale(${size() / size(drawn.zoom)})`);
  }

  /** Draws the view, and names the place of the pin, when nothing has moved for a while. */
  function restLater() {
    request += 1;
    text.textContent = '';
    clearTimeout(timer);
    timer = setTimeout(rest, REST_MS);
  }

  async function rest() {
    const present = request;
    const isDrawn = drawn && ['zoom', 'x', 'y'].every((name) => Math.abs(drawn[name] - view[name]) < 1e-9);
    const shown = `z=${view.zoom.toFixed(2)}&lat=${latitudeOf(view.y).toFixed(7)}&lon=${((view.x - 0.5) * 360).toFixed(7)}`;
    const query = [...(isDrawn ? [] : [shown]), ...(at ? [`at=${at}`] : [])].join('&');
    const answer = query ? await requestJson(`/web/map/pin?${query}`).catch(() => undefined) : {};
    if (present !== request) return;
    if (answer?.ground) {
      drawn = answer.ground;
      Object.assign(view, { zoom: drawn.zoom, x: drawn.x, y: drawn.y });
      ground.innerHTML = drawn.svg;
      show();
    }
    if (answer) name(answer.place);
    else text.textContent = NO_ANSWER;
  }

  function name(place) {
    text.textContent = !at ? UNSET : place ? `Near ${place}` : 'Far from any city';
  }

  /** Moves the part that is shown by units, and zooms around a point, in units from the middle. */
  function move(right, down, by = 0, aroundX = 0, aroundY = 0) {
    const before = size();
    view.zoom = clamp(view.zoom + by, 0, MAX_ZOOM);
    const change = 1 / before - 1 / size();
    view.x = wrapped(view.x + right / before + aroundX * change);
    view.y = clamp(view.y + down / before + aroundY * change, 0, 1);
    show();
    restLater();
  }

  /** Zooms around the pin. */
  function zoomBy(by) {
    const [right, down] = at ? units(pointOf(at)) : [0, 0];
    move(0, 0, by, isSeen ? right : 0, isSeen ? down : 0);
  }

  /** Puts the pin at a place. The map follows it. */
  function put(place, zoom = view.zoom) {
    at = place;
    if (at) {
      view.zoom = zoom;
      const point = pointOf(at);
      const [right, down] = units(point);
      if (Math.abs(right) > INNER_X || Math.abs(down) > INNER_Y) Object.assign(view, point);
    }
    show();
    restLater();
  }

  /** Puts the pin at units from the middle, and its place into the fields. */
  function choose(right, down, isFollowed) {
    const [x, y] = [view.x + right / size(), clamp(view.y + down / size(), 0, 1)];
    // A step to the side keeps a latitude beyond the edges of the map.
    const isBeyond = at && Math.abs(at[0]) > LAST_LATITUDE && down === place()[1];
    at = [isBeyond ? at[0] : latitudeOf(y), (wrapped(x) - 0.5) * 360].map(rounded);
    for (const [index, part] of ['latitude', 'longitude'].entries()) field(part).value = at[index];
    form.querySelector('[name="place"][value="coordinates"]').checked = true;
    form.dataset.changed = 'changed';
    if (isFollowed) put(at);
    else {
      show();
      restLater();
    }
  }

  const place = () => (at ? units(pointOf(at)) : [0, 0]);
  /** Where the pin was when it was touched; nothing while the map itself is moved. */
  let held;
  const gestures = new Gestures(map, {
    accepts: (event) => {
      // A second finger moves the map instead of the pin.
      held = !gestures.isActive && isSeen && event.target === pin && event.type !== 'wheel' ? place() : undefined;
      return event.type === 'wheel' ? event.ctrlKey : !event.target.closest('button');
    },
    moved: ({ right, down, across, along, scale: by, x, y }) => {
      const unit = scale();
      if (held) choose(held[0] + across * unit, held[1] + along * unit);
      else move(-right * unit, -down * unit, Math.log2(by), x * unit, y * unit);
    },
    ended: () => {
      if (held && gestures.hasMoved) put(at);
      held = undefined;
    },
  });
  map.onclick = (event) => {
    if (event.target.closest('button') || event.target === pin || gestures.hasMoved) return;
    const { x, y } = gestures.point(event);
    choose(x * scale(), y * scale(), true);
    pin.focus({ preventScroll: true });
  };
  pin.onkeydown = (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const step = STEPS[Number(event.shiftKey)];
    const by = { ArrowLeft: [-step, 0], ArrowRight: [step, 0], ArrowUp: [0, -step], ArrowDown: [0, step] }[event.key];
    const zoom = { '+': 1, '=': 1, '-': -1 }[event.key];
    if (!by && !zoom) return;
    event.preventDefault();
    if (zoom) return void zoomBy(zoom);
    const [right, down] = place();
    choose(right + by[0], down + by[1], true);
  };

  /** The place of the photo, before a correction. */
  const typed = () => {
    const values = ['latitude', 'longitude'].map((name) => field(name).value.trim());
    const [latitude, longitude] = values.map(Number);
    return values.every((value) => DEGREES.test(value)) && Math.abs(latitude) <= 90 && Math.abs(longitude) <= 180 ? [latitude, longitude] : undefined;
  };
  const first = typed();
  form.addEventListener('input', ({ target }) => {
    const value = target.name === 'place' && target.value;
    if (['latitude', 'longitude'].includes(target.name)) {
      form.querySelector('[name="place"][value="coordinates"]').checked = true;
      put(typed());
    } else if (value === 'keep') put(first);
    else if (value === 'clear') put();
    else if (value === 'coordinates') put(typed());
    else if (value && value !== 'city') put(value.split(',').map(Number), Math.max(view.zoom, CITY_ZOOM));
  });
  put(first);

  return () => {
    form.querySelector('#of-place legend').after(map, text);
    show();
    return pin;
  };
}
