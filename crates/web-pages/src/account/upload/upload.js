// Uploads photos by tus 1.0: several files at a time, in parts. When the same files are chosen again, an interrupted upload
// continues, also after the page was closed.
(() => {
  const area = document.getElementById('upload');
  if (!area) return;

  const PARALLEL = 3;
  // Proxies often limit a request to 100 MB.
  const PART_BYTES = 32 * 2 ** 20;
  // The first request sends the first bytes, so that the server can refuse a file that is no photo. It sends a short file whole.
  const HEAD_BYTES = 64 * 2 ** 10;
  const SHORT_BYTES = 2 ** 20;
  const BATCH = 40;
  const BATCH_BYTES = 64 * 2 ** 20;
  const AHEAD = 80;
  const WAITS_S = [0, 1, 3, 5, 10, 20, 30];
  const MAX_TRIES = 20;
  const STALLED_MS = 120 * 1000;
  const ROWS = 8;
  const REASONS = 200;
  // Statuses after which a file is not retried automatically. Two of them depend on free space and unfinished uploads, so the
  // person may retry.
  const FINAL = [400, 403, 413, 415, 507];
  const FINAL_FOR_NOW = [403, 507];
  const SIGNED_OUT = 'You are signed out.';
  const TUS = { 'Tus-Resumable': '1.0.0' };
  const memory = new UploadMemory(area.dataset.account);
  const maxBytes = Number(area.dataset.maxBytes);

  /** All files that were chosen, by path, length and time. */
  const items = new Map();
  const toHash = [];
  const toSend = [];
  const active = new Set();
  const problems = [];
  const counts = { total: 0, bytes: 0, sent: 0, imported: 0, duplicate: 0, restored: 0, refused: 0, failed: 0, cancelled: 0, unreadable: 0 };
  let paused = false;
  let signedOut = false;
  let isRunning = false;
  let hashing = false;
  let moreReasons;
  /** Rings when the connection has returned, or the person has continued or cancelled. */
  const changed = uploadBell();
  /** Rings when few files wait to be sent. */
  const drained = uploadBell();

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
  const icon = area.querySelector('svg');
  const [photos, choosePhotos] = picker('Choose photos', { accept });
  const [folder, chooseFolder] = picker('Choose a folder', { webkitdirectory: true });
  chooseFolder.className = 'quiet';
  const drop = create('div', { className: 'drop' }, icon, create('p', { textContent: 'Drop photos or folders here.' }),
    create('div', { className: 'buttons' }, photos, choosePhotos, folder, chooseFolder));
  const note = create('p', { hidden: true, className: 'notice' });
  const signIn = create('p', { hidden: true, className: 'notice warn' }, `${SIGNED_OUT} `,
    create('a', { href: '/sign-in?return_to=/account/sync', target: '_blank', rel: 'noopener', textContent: 'Sign in' }),
    ' in a new tab, then choose Continue here.');
  const summary = create('p', { id: 'upload-summary' });
  const bar = create('progress', { max: 1, value: 0 });
  bar.setAttribute('aria-labelledby', 'upload-summary');
  const pause = create('button', { type: 'button', className: 'quiet' });
  const cancel = create('button', { type: 'button', className: 'quiet', textContent: 'Cancel' });
  const again = create('button', { type: 'button', className: 'quiet', textContent: 'Try again' });
  const rows = create('ul', { className: 'uploads' });
  const reasons = create('ul', { className: 'uploads' });
  const reasonsTitle = create('h2', { hidden: true, className: 'further', textContent: 'Not uploaded' });
  const progress = create('div', { hidden: true }, signIn, summary, bar,
    create('div', { className: 'buttons' }, pause, cancel, again), rows, reasonsTitle, reasons);
  const announcer = create('p', { className: 'unseen' });
  announcer.setAttribute('role', 'status');
  area.replaceChildren(drop, note, progress, announcer);

  const say = (text) => { announcer.textContent = text; };
  const photosOf = (number) => (number === 1 ? '1 photo' : `${number} photos`);
  /** `'sending'` while files are sent, `'shown'` while a problem or remark is displayed. In both states the start page must not reload. */
  const updateStays = () => { area.dataset.stays = isRunning ? 'sending' : problems.length || !note.hidden ? 'shown' : ''; };
  const finished = () => counts.imported + counts.duplicate + counts.restored + counts.refused + counts.failed + counts.cancelled;

  // What the page shows. Only files that are being sent have a row, so that thousands of files do not slow the page down.
  function describe() {
    const parts = [];
    if (counts.imported) parts.push(`${counts.imported} added`);
    if (counts.duplicate) parts.push(`${counts.duplicate} already there`);
    if (counts.restored) parts.push(`${counts.restored} restored`);
    if (counts.refused) parts.push(`${counts.refused} refused`);
    if (counts.failed) parts.push(`${counts.failed} failed`);
    if (counts.cancelled) parts.push(`${counts.cancelled} cancelled`);
    if (counts.unreadable) parts.push(`${counts.unreadable} not readable`);
    return parts.join(', ');
  }
  let drawing;
  function draw() {
    drawing ??= setTimeout(() => {
      drawing = undefined;
      const done = finished();
      const isDone = done === counts.total;
      const trouble = [...active].find((item) => item.waits > 2)?.trouble;
      const state = isDone ? 'Finished. ' : paused ? 'Paused. ' : !navigator.onLine ? 'Waiting for the connection. '
        : trouble ? `Trying again: ${trouble}. ` : '';
      signIn.hidden = !signedOut;
      const numbers = counts.total ? `${done} of ${photosOf(counts.total)}` : 'No photos';
      summary.textContent = `${state}${numbers}${describe() ? `: ${describe()}` : ''}.`;
      let now = counts.sent;
      for (const item of active) now += item.sent;
      bar.value = isDone ? 1 : counts.bytes ? now / counts.bytes : 0;
      pause.textContent = paused ? 'Continue' : 'Pause';
      pause.hidden = cancel.hidden = isDone;
      again.hidden = !isDone || !problems.some((item) => item.isRetryable);
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
    problems.push(item);
    reasonsTitle.hidden = false;
    if (problems.length <= REASONS) {
      item.reason = create('li', { textContent: `${item.path}: ${text}` });
      reasons.append(item.reason);
    } else {
      moreReasons ??= create('li', { textContent: 'More files were not uploaded.' });
      reasons.append(moreReasons);
    }
  }
  function forgetProblem(item) {
    const place = problems.indexOf(item);
    if (place < 0) return;
    problems.splice(place, 1);
    item.reason?.remove();
    if (problems.length <= REASONS) moreReasons?.remove();
    reasonsTitle.hidden = !problems.length;
  }

  // Choosing files.
  function add(files, unreadable = []) {
    const sorted = UploadChoice.sort(files);
    let fresh = 0;
    for (const [file, path] of sorted.photos) {
      const item = enter(file, path);
      if (!item) continue;
      toHash.push(item);
      fresh += 1;
    }
    for (const path of unreadable) {
      if (problems.some((item) => item.path === path && !item.file)) continue;
      counts.unreadable += 1;
      problem({ path }, 'cannot be read');
    }
    const leftOut = UploadChoice.leftOut(sorted);
    const isListed = !fresh && sorted.photos.length > 0;
    const isEmpty = !fresh && !isListed && !unreadable.length && !leftOut;
    explain(isListed ? 'These photos are in the list already.' : isEmpty ? 'No files were found.' : '', leftOut);
    if (fresh || unreadable.length) progress.hidden = false;
    if (unreadable.length) draw();
    if (!fresh) return;
    say(`Uploading ${photosOf(fresh)}. ${leftOut}`.trim());
    start();
  }
  /** Shows a remark about the chosen files. If some were left out, links to the steps that import an export. */
  function explain(remark, leftOut) {
    const steps = document.getElementById('exports');
    const link = create('a', { href: '#exports', textContent: 'See the steps' });
    link.addEventListener('click', () => { steps.open = true; });
    note.hidden = !remark && !leftOut;
    note.replaceChildren([remark, leftOut].filter(Boolean).join(' '), ...(leftOut && steps ? [' ', link, '.'] : []));
    if (!note.hidden) say(note.textContent);
    updateStays();
  }
  /** Adds a file to the list. A file in the list is added again only if it was refused or cancelled, or if its upload failed. */
  function enter(file, path) {
    const key = `${path}:${file.size}:${file.lastModified}`;
    const former = items.get(key);
    if (former && !['refused', 'failed', 'cancelled'].includes(former.outcome)) return undefined;
    if (former) remove(former);
    const item = { file, path, key, sent: 0, reached: 0, tries: 0, waits: 0 };
    items.set(key, item);
    counts.total += 1;
    counts.bytes += file.size;
    return item;
  }
  /** Removes a file with an outcome from the list. */
  function remove(item) {
    forgetProblem(item);
    counts.total -= 1;
    counts.bytes -= item.file.size;
    counts.sent -= item.file.size;
    counts[item.outcome] -= 1;
  }
  function start() {
    isRunning = true;
    updateStays();
    draw();
    hashAhead();
    pump();
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
    // Both lists must be read now: the browser empties them at the first `await`.
    const entries = [...event.dataTransfer.items].map((item) => item.webkitGetAsEntry?.()).filter(Boolean);
    const files = [...event.dataTransfer.files].map((file) => [file, file.name]);
    if (!entries.length) return add(files);
    const read = await UploadChoice.read(entries);
    add(read.files, read.unreadable);
  });

  // Skipping what the library has.
  async function hashAhead() {
    if (hashing) return;
    hashing = true;
    while (toHash.length) {
      while (paused || toSend.length >= AHEAD) await drained.wait();
      const batch = [];
      let bytes = 0;
      while (toHash.length && batch.length < BATCH && bytes < BATCH_BYTES) {
        batch.push(toHash.shift());
        bytes += batch.at(-1).file.size;
      }
      const hashes = new Map();
      for (const item of batch) {
        const hash = await UploadKnown.hash(item.file, maxBytes, () => item.outcome);
        if (hash) hashes.set(hash, item);
      }
      for (const hash of await UploadKnown.known([...hashes.keys()])) {
        const item = hashes.get(hash);
        if (item) finish(item, 'duplicate');
      }
      toSend.push(...batch.filter((item) => !item.outcome));
      pump();
    }
    hashing = false;
  }

  // Sending.
  function pump() {
    while (!paused && active.size < PARALLEL && toSend.length) {
      const item = toSend.shift();
      active.add(item);
      send(item);
      draw();
    }
    if (toSend.length < AHEAD) drained.ring();
  }
  async function send(item) {
    while (!item.outcome) {
      if (paused) {
        await changed.wait();
        continue;
      }
      item.isAnswered = false;
      try {
        await attempt(item);
      } catch (error) {
        if (item.outcome || paused) continue;
        if (error.isFinal) finish(item, 'refused', error);
        else await retry(item, error);
      }
    }
    pump();
  }
  async function retry(item, error) {
    if (!(await item.file.slice(0, 1).arrayBuffer().catch(() => undefined))) {
      return finish(item, 'failed', new Error('the file cannot be read any more'));
    }
    // Only responses of the server count as tries. A lost connection may last long, and is no fault of the file.
    if (item.isAnswered) item.tries += 1;
    if (item.tries > MAX_TRIES) return finish(item, 'failed', error);
    const wait = WAITS_S[Math.min(item.waits, WAITS_S.length - 1)];
    item.waits += 1;
    item.trouble = error.message;
    draw();
    await changed.wait(wait * 1000);
  }
  async function attempt(item) {
    item.url ??= memory.recall(item.key);
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
        memory.remember(item.key, item.url);
      }
    }
    check(item, reply);
    while (!received(item, reply)) {
      const part = item.file.slice(item.sent, item.sent + PART_BYTES);
      reply = await request(item, 'PATCH', item.url, { 'Upload-Offset': item.sent }, part);
      check(item, reply);
    }
  }
  /** Takes the offset from the response. Returns whether the photo is in the library. */
  function received(item, reply) {
    item.sent = Number(reply.getResponseHeader('Upload-Offset'));
    if (item.sent > item.reached) item.tries = item.waits = 0;
    item.reached = item.sent;
    draw();
    const result = reply.getResponseHeader('Photo-Result');
    if (result) finish(item, result);
    return Boolean(result);
  }
  function check(item, reply) {
    if (reply.status < 300) return;
    item.sent = item.reached;
    let message = `the server answered ${reply.status}`;
    try {
      message = JSON.parse(reply.responseText).error;
    } catch {
      // The response is the error page of a proxy.
    }
    if (reply.status === 401) {
      signedOut = true;
      hold();
    }
    const { status } = reply;
    throw Object.assign(new Error(message), { isFinal: FINAL.includes(status), isRetryable: FINAL_FOR_NOW.includes(status) });
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
      sender.onload = () => {
        item.isAnswered = true;
        done(sender);
      };
      sender.onerror = sender.onabort = () => {
        item.sent = offset;
        failed(new Error('the connection was lost'));
      };
      sender.send(body);
    });
  }
  function finish(item, outcome, error) {
    if (item.outcome) return;
    item.outcome = outcome;
    counts[outcome] += 1;
    counts.sent += item.file.size;
    item.row?.remove();
    active.delete(item);
    if (outcome !== 'failed') forget(item);
    item.isRetryable = outcome === 'failed' || Boolean(error?.isRetryable);
    if (error) problem(item, error.message);
    draw();
    if (finished() === counts.total) {
      isRunning = false;
      updateStays();
      say(`Finished: ${describe()}.`);
    }
  }
  function forget(item) {
    item.url = undefined;
    item.sent = item.reached = 0;
    memory.forget(item.key);
  }
  const base64 = (text) => btoa(Array.from(new TextEncoder().encode(text), (byte) => String.fromCharCode(byte)).join(''));

  // Pausing, cancelling, trying again.
  function hold() {
    paused = true;
    for (const item of active) item.sender?.abort();
    say(signedOut ? `${SIGNED_OUT} Sign in in a new tab, then choose Continue.` : 'Paused.');
    draw();
  }
  function release() {
    paused = signedOut = false;
    draw();
    changed.ring();
    pump();
  }
  pause.addEventListener('click', () => {
    if (!paused) return hold();
    say('Uploading.');
    release();
  });
  cancel.addEventListener('click', () => {
    const left = [...items.values()].filter((item) => !item.outcome);
    toHash.length = toSend.length = 0;
    for (const item of left) {
      const url = item.url;
      finish(item, 'cancelled');
      item.sender?.abort();
      if (url) fetch(url, { method: 'DELETE', headers: TUS }).catch(() => undefined);
    }
    release();
    choosePhotos.focus();
  });
  again.addEventListener('click', () => {
    for (const { file, path } of problems.filter((item) => item.isRetryable)) toSend.push(enter(file, path));
    say('Uploading.');
    start();
  });
  addEventListener('online', () => {
    for (const item of active) item.tries = item.waits = 0;
    changed.ring();
    draw();
  });
  addEventListener('offline', () => {
    say('Waiting for the connection.');
    draw();
  });
  addEventListener('beforeunload', (event) => {
    if (!isRunning) return;
    event.preventDefault();
    // Browsers before 2024 need this to ask before they leave the page.
    event.returnValue = true;
  });
})();
