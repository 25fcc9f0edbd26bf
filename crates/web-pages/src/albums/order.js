// Moves photos of an album in its own order: dragged with the mouse, dragged on a touch screen after a long press, with keys, and
// with the buttons for selected photos.

import { announce, hasModifier, make, pageKeys, photosText, requestJson, showMessage } from './shared.js';

const LONG_PRESS_MS = 400;
const MOVED_PX = 8;
/** Heights of the strips at the top and bottom of the window in which a drag scrolls. */
const TOP_PX = 120;
const BOTTOM_PX = 90;
/** Time after a drag in which a click belongs to it. */
const CLICK_MS = 300;

function startMoving(form, list) {
  const path = form.querySelector('[name="step"]').getAttribute('formaction');
  const token = form.elements.csrf.value;
  const { previous, next } = form.dataset;
  let drag;
  let draggedAt = -Infinity;
  /** Moves that are sent one after the other. The first one is under way. */
  const queue = [];
  /** Whether all were kept, or a promise of it. */
  let sent = true;
  let isLeaving = false;
  let last;

  const items = () => [...list.children];
  const isSelected = (item) => item.querySelector('input').checked;
  /** The photos that move with this one. */
  const groupOf = (item) => (isSelected(item) ? items().filter(isSelected) : [item]);
  const idOf = ({ dataset }) => dataset.id;
  /** The order that the service has. */
  let kept = items();

  /** Sends moves after those that were sent before. `order` is that of the page then. */
  function send(done, order, movesOf) {
    queue.push({ done, order, movesOf });
    if (queue.length === 1) sent = sendAll();
  }

  function post({ order, movesOf }) {
    const moves = movesOf();
    // The address of the page has the position of its first photo.
    return moves.length ? requestJson(path, { body: { token, moves, first: previous && idOf(order[0]) }, keepalive: true }) : {};
  }

  async function sendAll() {
    list.ariaBusy = true;
    try {
      for (; queue.length; queue.shift()) {
        const { done, order } = queue[0];
        const { undo, from } = await post(queue[0]);
        kept = order;
        // The first step may have changed nothing.
        if (!done.undo?.length) done.undo = undo;
        if (from) setPage(`${location.pathname}?from=${from}`);
      }
      return true;
    } catch ({ message }) {
      // The moves that wait were made in an order that the service does not have.
      show(kept, queue[0].done.group[0].querySelector('a'));
      queue.length = 0;
      last = undefined;
      showMessage(message);
      return false;
    } finally {
      list.ariaBusy = false;
    }
  }

  function setPage(address) {
    history.replaceState(history.state, '', address);
    for (const field of document.querySelectorAll('[name="return_to"]')) field.value = address;
  }

  // All that waits is sent at once, so a move that is undone is left out.
  addEventListener('pagehide', () => {
    const waiting = queue.splice(1);
    const isLast = ({ done }, place) => !waiting.slice(place + 1).some((later) => later.done === done);
    waiting.filter(isLast).forEach(post);
  });

  /** Lets the service move photos to another page, and show that page. */
  async function leave(group, button) {
    if (isLeaving) return;
    isLeaving = true;
    for (const item of list.children) item.querySelector('input').checked = group.includes(item);
    if (await sent) form.requestSubmit(button);
    isLeaving = false;
  }

  function show(order, focused) {
    list.replaceChildren(...order);
    focused.focus({ preventScroll: true });
  }

  /** Moves photos before another one of the page, or behind the last one. Returns whether this changes the order. */
  function move(group, target, isStep) {
    const order = items();
    let at = target;
    while (group.includes(at)) at = at.nextElementSibling;
    const rest = order.filter((item) => !group.includes(item));
    rest.splice(at ? rest.indexOf(at) : rest.length, 0, ...group);
    if (rest.every((item, place) => item === order[place])) return false;
    show(rest, document.activeElement);
    group[0].scrollIntoView({ block: 'nearest' });
    const ids = group.map(idOf);
    const isAgain = isStep && last?.ids.join() === ids.join();
    // Several steps of the same photos are undone together.
    if (!isAgain) last = { ids, order, group };
    const done = last;
    const before = at ? idOf(at) : next;
    // A step that waits is part of the next one.
    if (queue.length > 1 && queue.at(-1).done === done) queue.pop();
    send(done, rest, () => [{ ids, before }]);
    const place = `place ${rest.indexOf(group[0]) + 1} of ${rest.length}${previous || next ? ' on this page' : ''}`;
    const text = group.length > 1 ? `${photosText(group.length)} moved, the first to ${place}.` : `Photo moved to ${place}.`;
    showMessage(text, 'Undo', () => undo(done));
    if (isAgain) announce(text);
    return true;
  }

  function undo(done) {
    last = undefined;
    show(done.order, done.group[0].querySelector('a'));
    showMessage(`${photosText(done.group.length)} moved back.`);
    // If the service has not said how to undo the move, each photo goes back before the one that followed it.
    const follows = (item) => done.order[done.order.indexOf(item) + 1];
    const back = () => done.group.map((item) => ({ ids: [idOf(item)], before: follows(item) ? idOf(follows(item)) : next })).reverse();
    send(done, done.order, () => done.undo ?? back());
  }

  // Keys and buttons.

  /** The photo above or below another one. */
  function across(item, isBack) {
    const rows = items().filter(({ offsetTop }) => (isBack ? offsetTop < item.offsetTop : offsetTop > item.offsetTop));
    const top = rows.at(isBack ? -1 : 0)?.offsetTop;
    const centre = ({ offsetLeft, offsetWidth }) => offsetLeft + offsetWidth / 2;
    const away = (other) => Math.abs(centre(other) - centre(item));
    return rows.filter(({ offsetTop }) => offsetTop === top).sort((one, other) => away(one) - away(other))[0];
  }

  /** Moves photos by a step, or as far as the page goes. Returns false if they would leave the page. */
  function step(group, isBack, isFar, isRow) {
    const edge = isBack ? group[0] : group.at(-1);
    let beside = isBack ? edge.previousElementSibling : edge.nextElementSibling;
    if (isRow) beside = across(edge, isBack) ?? beside;
    if ((isFar || !beside) && (isBack ? previous : next)) return false;
    const before = isBack ? (isFar ? list.firstElementChild : beside ?? edge) : isFar ? null : beside?.nextElementSibling ?? null;
    if (!move(group, before, true)) announce(isBack ? 'This is the first place.' : 'This is the last place.');
    return true;
  }

  document.addEventListener('keydown', (event) => {
    const { key, target } = event;
    if (key === 'Escape' && drag?.group) {
      event.preventDefault();
      event.stopImmediatePropagation();
      stop();
    }
    const item = list.contains(target) && target.closest('li');
    if (!item || !event.altKey || !event.shiftKey || hasModifier(event) || !key.startsWith('Arrow')) return;
    event.preventDefault();
    const isBack = /Left|Up/.test(key);
    const group = groupOf(item);
    if (isLeaving || step(group, isBack, false, /Up|Down/.test(key))) return;
    void leave(group, form.querySelector(`[value="${isBack ? 'earlier' : 'later'}"]`));
  });

  form.addEventListener('submit', (event) => {
    const { name, value } = event.submitter ?? {};
    const group = items().filter(isSelected);
    if (name !== 'step' || !group.length) return;
    const isMoved = step(group, /earlier|start/.test(value), /start|end/.test(value));
    if (isMoved || queue.length) event.preventDefault();
    if (!isMoved && queue.length) void leave(group, event.submitter);
  });

  // Dragging.

  function begin() {
    const { item } = drag;
    drag.group = groupOf(item);
    for (const moving of drag.group) moving.classList.add('moving');
    drag.carried = make('div', { id: 'carried' }, make('img', { src: item.querySelector('img').currentSrc, alt: '' }));
    if (drag.group.length > 1) drag.carried.append(make('span', {}, drag.group.length));
    document.body.append(drag.carried);
    scroll();
  }

  /** Marks the place that the photos would move to. */
  function aim() {
    const { x, y, carried } = drag;
    carried.style.translate = `${x}px ${y}px`;
    let [least, nearest, isAfter] = [Infinity];
    for (const item of list.children) {
      const { left, right, top, bottom } = item.getBoundingClientRect();
      const away = 9 * Math.max(top - y, y - bottom, 0) + Math.max(left - x, x - right, 0);
      if (away < least) [least, nearest, isAfter] = [away, item, x > (left + right) / 2];
    }
    drag.before = isAfter ? nearest.nextElementSibling : nearest;
    mark(nearest, isAfter ? 'into-after' : 'into-before');
  }

  function mark(item, name) {
    for (const marked of list.querySelectorAll('[class^="into"], [class*=" into"]')) marked.classList.remove('into-after', 'into-before');
    item?.classList.add(name);
  }

  function scroll() {
    if (!drag?.group) return;
    const { y } = drag;
    const over = y < TOP_PX ? y - TOP_PX : Math.max(0, y - innerHeight + BOTTOM_PX);
    if (over) scrollBy({ top: over / 4, behavior: 'instant' });
    aim();
    requestAnimationFrame(scroll);
  }

  function stop(isDropped) {
    const ended = drag;
    drag = undefined;
    clearTimeout(ended?.timer);
    if (!ended?.group) return;
    draggedAt = performance.now();
    ended.carried.remove();
    mark();
    for (const moved of ended.group) moved.classList.remove('moving');
    if (isDropped) move(ended.group, ended.before);
  }

  list.addEventListener('pointerdown', (event) => {
    const item = event.target.closest('li');
    if (!item || drag?.group || event.button || !event.isPrimary || event.target.matches('input')) return;
    const isMouse = event.pointerType === 'mouse';
    stop();
    drag = { item, isMouse, id: event.pointerId, x: event.clientX, y: event.clientY, timer: isMouse ? 0 : setTimeout(begin, LONG_PRESS_MS) };
  });
  addEventListener('pointermove', ({ clientX, clientY, buttons, pointerId }) => {
    if (drag?.id !== pointerId) return;
    // The button was released outside of the window.
    if (drag.isMouse && !buttons) return void stop();
    const isFar = Math.hypot(clientX - drag.x, clientY - drag.y) > MOVED_PX;
    if (drag.group || (isFar && drag.isMouse)) Object.assign(drag, { x: clientX, y: clientY });
    if (isFar && !drag.group) (drag.isMouse ? begin : stop)();
  });
  addEventListener('pointerup', ({ pointerId }) => drag?.id === pointerId && stop(true));
  addEventListener('pointercancel', ({ pointerId }) => drag?.id === pointerId && stop());
  addEventListener('blur', () => stop());
  list.addEventListener('touchmove', (event) => drag?.group && event.preventDefault(), { passive: false });
  list.addEventListener('contextmenu', (event) => drag && !drag.isMouse && event.preventDefault());
  list.addEventListener('click', (event) => performance.now() - draggedAt < CLICK_MS && event.preventDefault());
  // Browsers drag links and pictures themselves.
  for (const own of list.querySelectorAll('a, img')) own.draggable = false;
}

const form = document.querySelector('form.own-order');
if (form) {
  pageKeys.unshift(['Alt, Shift and arrows', 'Move the photo, or the selected photos']);
  startMoving(form, form.querySelector('ul.rows'));
}
