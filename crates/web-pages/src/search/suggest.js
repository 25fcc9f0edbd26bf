// Names of the library under the search field: places, dates, cameras, albums and keywords that the last words begin.

/** Time without typing after which the service is asked. */
const QUIET_MS = 120;

document.head.append(Object.assign(document.createElement('link'), { rel: 'stylesheet', href: new URL('suggest.css', import.meta.url).href }));

for (const field of document.querySelectorAll('[data-suggest]')) {
  const list = document.createElement('ul');
  list.id = `${field.id}-names`;
  list.className = 'suggestions';
  list.role = 'listbox';
  list.ariaLabel = 'Suggestions';
  list.hidden = true;
  field.after(list);
  field.setAttribute('role', 'combobox');
  field.setAttribute('aria-autocomplete', 'list');
  field.setAttribute('aria-controls', list.id);
  let timer;
  let request;
  /** The number of the option that the arrow keys have reached; -1 for the field itself. */
  let active = -1;

  const show = (isOpen) => {
    list.hidden = !isOpen;
    field.ariaExpanded = String(isOpen);
    activate(-1);
  };

  function activate(index) {
    active = index;
    [...list.children].forEach((option, at) => (option.ariaSelected = String(at === index)));
    if (index < 0) field.removeAttribute('aria-activedescendant');
    else field.setAttribute('aria-activedescendant', list.children[index].id);
  }

  function option({ q, name, kind, image }, index) {
    const item = document.createElement('li');
    item.id = `${list.id}-${index}`;
    item.role = 'option';
    item.dataset.q = q;
    const picture = Object.assign(new Image(), { src: image, alt: '', width: 40, height: 40 });
    const text = document.createElement('span');
    const what = document.createElement('small');
    text.textContent = name;
    what.textContent = kind;
    item.append(picture, text, what);
    return item;
  }

  async function ask() {
    request?.abort();
    request = new AbortController();
    const typed = field.value.trim();
    if (!typed) return show(false);
    try {
      const answer = await fetch(`/web/suggest?q=${encodeURIComponent(typed)}`, { signal: request.signal });
      const names = answer.ok ? await answer.json() : [];
      list.replaceChildren(...names.map(option));
      return show(names.length > 0 && document.activeElement === field);
    } catch {
      return undefined;
    }
  }

  const stop = () => {
    clearTimeout(timer);
    request?.abort();
  };

  const close = () => {
    stop();
    show(false);
  };

  const choose = (item) => {
    field.value = item.dataset.q;
    close();
    field.form.requestSubmit();
  };

  show(false);
  field.addEventListener('input', () => {
    clearTimeout(timer);
    timer = setTimeout(ask, QUIET_MS);
  });
  field.addEventListener('blur', close);
  list.addEventListener('pointerdown', (event) => {
    // The field keeps the focus, and the list what is pressed.
    event.preventDefault();
    stop();
  });
  list.addEventListener('click', ({ target }) => {
    const item = target.closest('li');
    if (item) choose(item);
  });
  field.addEventListener('keydown', (event) => {
    if (list.hidden || event.isComposing) return;
    const { length } = list.children;
    if (event.key === 'ArrowDown') activate(active + 1 < length ? active + 1 : -1);
    else if (event.key === 'ArrowUp') activate(active < 0 ? length - 1 : active - 1);
    else if (event.key === 'Enter' && active >= 0) choose(list.children[active]);
    else if (event.key === 'Escape') close();
    else return;
    event.preventDefault();
    event.stopPropagation();
  });
}
