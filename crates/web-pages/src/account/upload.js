'use strict';

// Uploads photos by tus 1.0. Several files at a time, in parts; an interrupted upload continues, also after the page was
// closed, when the same files are chosen again.
(() => {
  const area = document.getElementById('upload');
  if (!area) return;

  const PARALLEL = 3;
  // Proxies often limit a request to 100 MB.
  const PART_BYTES = 32 * 2 ** 20;
  // The first bytes tell whether the file is a photo; a short file is sent whole with them.
  const HEAD_BYTES = 64 * 2 ** 10;
  const SHORT_BYTES = 2 ** 20;
  // A file is hashed in memory as a whole, one at a time.
  const HASHED_BYTES = 100 * 2 ** 20;
  const BATCH = 40;
  const AHEAD = 80;
  const WAITS_S = [0, 1, 3, 5, 10, 20, 30];
  const MAX_TRIES = 20;
  const STALLED_MS = 120 * 1000;
  const ROWS = 8;
  const REASONS = 200;
  const KEPT_MS = 24 * 3600 * 1000;
  const JUNK = /^(\.|thumbs\.db$|desktop\.ini$)/i;
  const TUS = { 'Tus-Resumable': '1.0.0' };
  const store = `upload:${area.dataset.account}:`;

  const added = [];
  const keys = new Set();
  const toHash = [];
  const toSend = [];
  const active = new Set();
  const problems = [];
  const counts = { total: 0, bytes: 0, sent: 0, imported: 0, duplicate: 0, restored: 0, refused: 0, failed: 0, cancelled: 0 };
  let paused = false;
  let signedOut = false;
  let isRunning = false;
  let hashing = false;
  let wakers = [];

  // The controls replace the plain form.
  const create = (tag, properties = {}, ...children) => {
    const element = Object.assign(document.createElement(tag), properties);
    element.append(...children);
    return element;
  };
  const picker = (label, properties) => {
    const input = create('input', { type: 'file', multiple: true, hidden: true, ...properties });
    const button = create('button', { type: 'button', textContent: label });
    button.addEventListener('click', () => input.click());
    input.addEventListener('change', () => {
      add([...input.files].map((file) => [file, file.webkitRelativePath || file.name]));
      input.value = '';
    });
    return [input, button];
  };
  const accept = area.querySelector('input[type=file]').accept;
  const [photos, choosePhotos] = picker('Choose photos', { accept });
  const [folder, chooseFolder] = picker('Choose a folder', { webkitdirectory: true });
  chooseFolder.className = 'quiet';
  const drop = create('div', { className: 'drop' }, create('p', { textContent: 'Drop photos or folders here.' }),
    create('div', { className: 'buttons' }, photos, choosePhotos, folder, chooseFolder));
  const summary = create('p', { id: 'upload-summary' });
  const bar = create('progress', { max: 1, value: 0 });
  bar.setAttribute('aria-labelledby', 'upload-summary');
  const pause = create('button', { type: 'button', className: 'quiet' });
  const cancel = create('button', { type: 'button', className: 'quiet', textContent: 'Cancel' });
  const again = create('button', { type: 'button', className: 'quiet', textContent: 'Try again' });
  const rows = create('ul', { className: 'uploads' });
  const reasons = create('ul', { className: 'uploads' });
  const reasonsTitle = create('h2', { hidden: true, className: 'further', textContent: 'Not uploaded' });
  const progress = create('div', { hidden: true }, summary, bar,
    create('div', { className: 'buttons' }, pause, cancel, again), rows, reasonsTitle, reasons);
  const announcer = create('p', { className: 'unseen' });
  announcer.setAttribute('role', 'status');
  area.replaceChildren(drop, progress, announcer);

  const say = (text) => { announcer.textContent = text; };
  const photosOf = (number) => (number === 1 ? '1 photo' : `${number} photos`);
  const finished = () => counts.imported + counts.duplicate + counts.restored + counts.refused + counts.failed + counts.cancelled;

  // What the page shows. Only files that are being sent have a row, so thousands of files cost nothing.
  function describe() {
    const parts = [];
    if (counts.imported) parts.push(`${counts.imported} added`);
    if (counts.duplicate) parts.push(`${counts.duplicate} already there`);
    if (counts.restored) parts.push(`${counts.restored} restored`);
    if (counts.refused) parts.push(`${counts.refused} refused`);
    if (counts.failed) parts.push(`${counts.failed} failed`);
    if (counts.cancelled) parts.push(`${counts.cancelled} cancelled`);
    return parts.join(', ');
  }
  let drawing;
  function draw() {
    drawing ??= setTimeout(() => {
      drawing = undefined;
      const done = finished();
      const isDone = done === counts.total;
      const state = signedOut ? 'You are signed out. Sign in again in another tab, then continue. '
        : isDone ? 'Finished. ' : paused ? 'Paused. ' : navigator.onLine ? '' : 'Waiting for the connection. ';
      summary.textContent = `${state}${done} of ${photosOf(counts.total)}${describe() ? `: ${describe()}` : ''}.`;
      let now = counts.sent;
      for (const item of active) now += item.sent;
      bar.value = isDone ? 1 : counts.bytes ? now / counts.bytes : 0;
      pause.textContent = paused ? 'Continue' : 'Pause';
      pause.hidden = cancel.hidden = isDone;
      again.hidden = !isDone || !counts.failed;
      const shown = [...active].slice(0, ROWS);
      for (const item of active) if (!shown.includes(item)) item.row?.remove();
      for (const item of shown) {
        item.row ??= row(item);
        item.row.lastChild.value = item.file.size ? item.sent / item.file.size : 0;
        if (!item.row.isConnected) rows.append(item.row);
      }
    }, 100);
  }
  function row(item) {
    const bar = create('progress', { max: 1, value: 0 });
    bar.setAttribute('aria-label', item.path);
    return create('li', {}, create('span', { textContent: item.path }), bar);
  }
  function problem(item, text) {
    item.text = text;
    problems.push(item);
    reasonsTitle.hidden = false;
    if (problems.length <= REASONS) {
      item.reason = create('li', { textContent: `${item.path}: ${text}` });
      reasons.append(item.reason);
    } else if (problems.length === REASONS + 1) {
      reasons.append(create('li', { textContent: 'More files were not uploaded.' }));
    }
  }

  // Choosing files.
  function add(files) {
    let fresh = 0;
    for (const [file, path] of files) {
      const key = `${path}:${file.size}:${file.lastModified}`;
      if (JUNK.test(file.name) || keys.has(key)) continue;
      keys.add(key);
      const item = { file, path, key: store + key, sent: 0, tries: 0 };
      added.push(item);
      toHash.push(item);
      counts.total += 1;
      counts.bytes += file.size;
      fresh += 1;
    }
    if (!fresh) return;
    progress.hidden = false;
    say(`Uploading ${photosOf(fresh)}.`);
    start();
  }
  function start() {
    isRunning = true;
    draw();
    hashAhead();
    pump();
  }
  async function entries(entry, path, found) {
    if (entry.isFile) {
      const file = await new Promise((done, failed) => entry.file(done, failed)).catch(() => undefined);
      if (file) found.push([file, path + file.name]);
      return;
    }
    const reader = entry.createReader();
    for (;;) {
      const some = await new Promise((done, failed) => reader.readEntries(done, failed)).catch(() => []);
      if (!some.length) return;
      for (const inner of some) await entries(inner, `${path}${entry.name}/`, found);
    }
  }
  addEventListener('dragover', (event) => {
    if (!event.dataTransfer.types.includes('Files')) return;
    event.preventDefault();
    drop.classList.add('over');
  });
  addEventListener('dragleave', (event) => { if (!event.relatedTarget) drop.classList.remove('over'); });
  addEventListener('drop', async (event) => {
    if (!event.dataTransfer.types.includes('Files')) return;
    event.preventDefault();
    drop.classList.remove('over');
    // Both lists are empty after the first await.
    const dropped = [...event.dataTransfer.items].map((item) => item.webkitGetAsEntry?.()).filter(Boolean);
    const files = [...event.dataTransfer.files].map((file) => [file, file.name]);
    if (!dropped.length) return add(files);
    const found = [];
    for (const entry of dropped) await entries(entry, '', found);
    add(found);
  });

  // Skipping what the library has. Browsers hash over https and on localhost only.
  const hex = (buffer) => [...new Uint8Array(buffer)].map((byte) => byte.toString(16).padStart(2, '0')).join('');
  async function hashAhead() {
    if (hashing) return;
    hashing = true;
    while (toHash.length) {
      while (paused || toSend.length >= AHEAD) await sleep();
      const batch = toHash.splice(0, BATCH);
      const hashes = new Map();
      for (const item of batch) {
        if (!crypto.subtle || item.file.size > HASHED_BYTES || item.file.size === 0) continue;
        const buffer = await item.file.arrayBuffer().catch(() => undefined);
        if (buffer) hashes.set(hex(await crypto.subtle.digest('SHA-256', buffer)), item);
      }
      for (const hash of await known([...hashes.keys()])) {
        const item = hashes.get(hash);
        if (item) finish(item, 'duplicate');
      }
      toSend.push(...batch.filter((item) => !item.outcome));
      pump();
    }
    hashing = false;
  }
  async function known(sha256) {
    if (!sha256.length) return [];
    const headers = { 'Content-Type': 'application/json' };
    try {
      const reply = await fetch('/upload/known', { method: 'POST', headers, body: JSON.stringify({ sha256 }) });
      return reply.ok ? (await reply.json()).known : [];
    } catch {
      return [];
    }
  }

  // Sending.
  function pump() {
    while (!paused && active.size < PARALLEL && toSend.length) {
      const item = toSend.shift();
      active.add(item);
      send(item);
    }
    if (toSend.length < AHEAD) wake();
  }
  async function send(item) {
    while (!item.outcome) {
      if (paused) {
        await sleep();
        continue;
      }
      try {
        await attempt(item);
      } catch (error) {
        if (item.outcome || paused) continue;
        if (error.final) finish(item, 'refused', error.message);
        else await retry(item, error);
      }
    }
    pump();
  }
  async function retry(item, error) {
    if (!(await item.file.slice(0, 1).arrayBuffer().catch(() => undefined))) {
      return finish(item, 'failed', 'the file cannot be read any more');
    }
    if (navigator.onLine && item.tries >= MAX_TRIES) return finish(item, 'failed', error.message);
    const wait = WAITS_S[Math.min(item.tries, WAITS_S.length - 1)];
    item.tries += 1;
    await sleep(wait * 1000);
  }
  /** Waits until something changes, or for this time. */
  function sleep(ms) {
    return new Promise((done) => {
      wakers.push(done);
      if (ms !== undefined) setTimeout(done, ms);
    });
  }
  function wake() {
    const all = wakers;
    wakers = [];
    for (const done of all) done();
  }
  async function attempt(item) {
    item.url ??= recall(item.key);
    let reply = item.url ? await request(item, 'HEAD', item.url, {}) : undefined;
    if (!reply || [403, 404, 410].includes(reply.status)) {
      forget(item);
      const { file } = item;
      reply = await request(item, 'POST', '/upload/', {
        'Upload-Length': file.size,
        'Upload-Metadata': `filename ${base64(file.name)},lastModified ${base64(String(file.lastModified))}`,
      }, file.slice(0, file.size > SHORT_BYTES ? HEAD_BYTES : file.size));
      if (reply.status === 201) {
        item.url = reply.getResponseHeader('Location');
        remember(item.key, item.url);
      }
    }
    check(reply);
    while (!received(item, reply)) {
      const part = item.file.slice(item.sent, item.sent + PART_BYTES);
      reply = await request(item, 'PATCH', item.url, { 'Upload-Offset': item.sent }, part);
      check(reply);
      item.tries = 0;
    }
  }
  /** Takes the offset over; returns whether the photo is in the library. */
  function received(item, reply) {
    item.sent = Number(reply.getResponseHeader('Upload-Offset'));
    draw();
    const result = reply.getResponseHeader('Photo-Result');
    if (result) finish(item, result);
    return Boolean(result);
  }
  function check(reply) {
    if (reply.status < 300) return;
    let message = `the server answered ${reply.status}`;
    try {
      message = JSON.parse(reply.responseText).error;
    } catch {
      // A proxy answers with a page of its own.
    }
    if (reply.status === 401) {
      signedOut = true;
      hold(true);
    }
    throw Object.assign(new Error(message), { final: [400, 403, 413, 415, 507].includes(reply.status) });
  }
  function request(item, method, url, headers, body) {
    return new Promise((done, failed) => {
      const sender = new XMLHttpRequest();
      item.sender = sender;
      sender.open(method, url);
      for (const [name, value] of Object.entries({ ...TUS, ...headers })) sender.setRequestHeader(name, value);
      const offset = item.sent;
      let stalled;
      const watch = () => {
        clearTimeout(stalled);
        stalled = setTimeout(() => sender.abort(), STALLED_MS);
      };
      watch();
      if (body) {
        sender.setRequestHeader('Content-Type', 'application/offset+octet-stream');
        sender.upload.onprogress = (event) => {
          item.sent = offset + event.loaded;
          watch();
          draw();
        };
      }
      sender.onloadend = () => clearTimeout(stalled);
      sender.onload = () => done(sender);
      sender.onerror = sender.onabort = () => {
        item.sent = offset;
        failed(new Error('the connection was lost'));
      };
      sender.send(body);
    });
  }
  function finish(item, outcome, text) {
    if (item.outcome) return;
    item.outcome = outcome;
    counts[outcome] += 1;
    counts.sent += item.file.size;
    item.row?.remove();
    active.delete(item);
    if (outcome !== 'failed') forget(item);
    if (text) problem(item, text);
    draw();
    if (finished() === counts.total) {
      isRunning = false;
      say(`Finished: ${describe()}.`);
    }
  }
  const base64 = (text) => btoa(Array.from(new TextEncoder().encode(text), (byte) => String.fromCharCode(byte)).join(''));

  // The addresses of unfinished uploads, so that a new page continues them.
  function remember(key, url) {
    try {
      localStorage.setItem(key, JSON.stringify({ url, at: Date.now() }));
    } catch {
      // Storage is full or off: the upload then starts again after the page is closed.
    }
  }
  function recall(key) {
    try {
      const { url, at } = JSON.parse(localStorage.getItem(key));
      return Date.now() - at < KEPT_MS ? url : undefined;
    } catch {
      return undefined;
    }
  }
  function forget(item) {
    item.url = undefined;
    item.sent = 0;
    try {
      localStorage.removeItem(item.key);
    } catch {
      // Nothing was stored.
    }
  }
  try {
    for (const key of Object.keys(localStorage)) {
      if (key.startsWith('upload:') && !recall(key)) localStorage.removeItem(key);
    }
  } catch {
    // Storage is off.
  }

  // Pausing, cancelling, trying again.
  function hold(isHeld) {
    paused = isHeld;
    if (paused) for (const item of active) item.sender?.abort();
    else signedOut = false;
    say(paused ? 'Paused.' : 'Uploading.');
    draw();
    if (!paused) {
      wake();
      pump();
    }
  }
  pause.addEventListener('click', () => hold(!paused));
  cancel.addEventListener('click', () => {
    const left = added.filter((item) => !item.outcome);
    toHash.length = toSend.length = 0;
    for (const item of left) {
      const url = item.url;
      finish(item, 'cancelled');
      item.sender?.abort();
      if (url) fetch(url, { method: 'DELETE', headers: TUS }).catch(() => undefined);
    }
    hold(false);
    choosePhotos.focus();
  });
  again.addEventListener('click', () => {
    const failed = problems.filter((item) => item.outcome === 'failed');
    for (const item of failed) {
      problems.splice(problems.indexOf(item), 1);
      item.reason?.remove();
      counts.sent -= item.file.size;
      Object.assign(item, { outcome: undefined, tries: 0, row: undefined });
      toSend.push(item);
    }
    counts.failed = 0;
    reasonsTitle.hidden = !problems.length;
    start();
  });
  addEventListener('online', () => {
    wake();
    draw();
  });
  addEventListener('offline', () => {
    say('Waiting for the connection.');
    draw();
  });
  addEventListener('beforeunload', (event) => { if (isRunning) event.preventDefault(); });
})();
