// Photos can be dropped and pasted on every page, and chosen with the button in the header. The script that uploads them is loaded
// when it is needed.

const uploadLink = document.querySelector('a.upload');

function listenForPhotos() {
  const { script, accept } = uploadLink.dataset;
  const load = () => import(script);
  const take = (files, entries) => load().then((upload) => upload.take(files, entries),
    () => alert('The upload could not be loaded. Check the connection and try again.'));
  const input = Object.assign(document.createElement('input'), { type: 'file', multiple: true, accept });
  input.onchange = () => {
    take([...input.files]);
    input.value = '';
  };
  uploadLink.role = 'button';
  uploadLink.onclick = (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    input.click();
  };
  uploadLink.onkeydown = (event) => {
    if (event.key === ' ') uploadLink.onclick(event);
  };
  // Browsers also offer a picture of the page itself as a file while it is dragged.
  let isOwn = false;
  addEventListener('dragstart', () => { isOwn = true; });
  addEventListener('dragend', () => { isOwn = false; });
  const listen = (name, body) => addEventListener(name, (event) => {
    const data = event.dataTransfer ?? event.clipboardData;
    if (isOwn || !data?.types.includes('Files')) return;
    // The same text and pictures can be pasted into a field as text.
    if (name === 'paste' && data.types.includes('text/plain') && event.target.matches('input, textarea')) return;
    event.preventDefault();
    body(data);
  });
  listen('dragover', (data) => {
    data.dropEffect = 'copy';
    load().then((upload) => upload.aim(), () => {});
  });
  // The browser empties both lists when the event is over.
  listen('drop', ({ files, items }) => take([...files], Array.from(items, (item) => item.webkitGetAsEntry?.())));
  listen('paste', ({ files }) => take([...files]));
  try {
    if (document.getElementById('upload') || sessionStorage.getItem('upload')) load().catch(() => {});
  } catch {
    // Storage is disabled.
  }
}

if (uploadLink) listenForPhotos();
