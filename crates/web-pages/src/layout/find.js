// Loads the suggestions with the first use of the search field.

for (const field of document.querySelectorAll('[data-suggest]')) {
  const load = () => import(field.dataset.suggest);
  if (document.activeElement === field) load();
  else field.addEventListener('focus', load, { once: true });
}
