// The upload on every page: what is dropped, pasted or chosen goes into one list.

const uploadLink = document.querySelector('a.upload');
const tray = new UploadTray(uploadLink);
const queue = new UploadQueue(uploadLink.dataset, tray);
const arrivals = new UploadArrivals(tray);
const area = document.getElementById('upload');
/** How far an upload was when its page was left. */
const LEFT = 'upload';

const style = make('link', { rel: 'stylesheet', href: new URL('upload.css', import.meta.url) });
const styled = new Promise((done) => { style.onload = style.onerror = done; });
document.head.append(style);
document.body.append(tray.announcer);

const keep = (body) => {
  try {
    return body(sessionStorage);
  } catch {
    // Storage is disabled.
    return undefined;
  }
};

/** While files are sent, and while a problem or remark is shown, the start page must not reload. */
const updateStays = () => {
  if (area) area.dataset.stays = queue.isRunning ? 'sending' : queue.problems.length || !tray.note.hidden ? 'shown' : '';
};
const forgetLeft = () => keep((storage) => storage.removeItem(LEFT));
Object.assign(tray, { queue, arrivals, drawn: updateStays, dismissed: forgetLeft });

/** The album of the page. */
const openAlbum = () => {
  const { id, title, token } = document.getElementById('album')?.dataset ?? {};
  return id && { id, title, token };
};

/** Uploads files, or all files of dropped files and folders. */
async function take(files, entries = []) {
  target?.remove();
  const album = openAlbum();
  const hasEntries = entries.length > 0 && entries.every(Boolean);
  if (hasEntries) styled.then(() => tray.read());
  const read = hasEntries ? await UploadChoice.read(entries) : { files: files.map((file) => [file, file.webkitRelativePath || file.name]), unreadable: [] };
  await styled;
  forgetLeft();
  tray.add(read, album);
  updateStays();
}

let target;
let lastAim;

/** Shows that files can be dropped, while they are dragged over the window. */
function aim() {
  const title = openAlbum()?.title;
  target ??= make('div', { id: 'upload-target', ariaHidden: 'true' }, make('div', {}, makeIcon(UPLOAD_ICONS.upload), make('p')));
  target.querySelector('p').textContent = title ? `Drop photos to add them to “${title}”` : 'Drop photos to add them';
  target.ondragleave = () => target.remove();
  styled.then(() => target.isConnected || document.body.append(target));
  // Some browsers do not report that the drag was cancelled.
  clearTimeout(lastAim);
  lastAim = setTimeout(() => target.remove(), 1500);
}

addEventListener('beforeunload', (event) => {
  if (!queue.isRunning && !arrivals.isBusy) return;
  event.preventDefault();
  // Browsers before 2024 need this to ask before they leave the page.
  event.returnValue = true;
});
addEventListener('pagehide', () => {
  const { done, counts } = queue;
  if (queue.isRunning) keep((storage) => storage.setItem(LEFT, JSON.stringify({ done, total: counts.total })));
});
addEventListener('pageshow', ({ persisted }) => persisted && forgetLeft());

/** The controls that replace the plain form on the page of photo sync and on the start page. */
function showArea() {
  const icon = area.querySelector('svg');
  const plain = area.querySelector('input[type=file]');
  // Those that were chosen before this script was there, and those of a choice that is still open.
  const chosen = [...plain.files];
  plain.onchange = () => take([...plain.files]);
  const picker = (label, properties, className) => {
    const input = make('input', { type: 'file', multiple: true, hidden: true, ...properties });
    input.onchange = () => {
      take([...input.files]);
      input.value = '';
    };
    return [input, makeButton(label, () => input.click(), className)];
  };
  const photos = picker('Choose photos', { accept: plain.accept }, '');
  const folder = picker('Choose a folder', { webkitdirectory: true });
  area.replaceChildren(make('div', { className: 'drop' }, icon, make('p', { textContent: 'Drop photos or folders here.' }),
    make('div', { className: 'buttons' }, ...photos, ...folder)));
  if (chosen.length) take(chosen);
}

if (area) showArea();
const left = keep((storage) => JSON.parse(storage.getItem(LEFT)));
if (left) styled.then(() => tray.resume(left));

export { aim, take, Sha256 };
