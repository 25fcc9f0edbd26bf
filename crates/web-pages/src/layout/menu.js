// The menu of the account, and forms that open below a button of the page, close by Escape, by a press outside of them, and when the
// focus or the page is left.

for (const menu of document.querySelectorAll('details.menu, h1 ~ .tools > .ask')) {
  const close = () => { menu.open = false; };
  document.addEventListener('pointerdown', ({ target }) => menu.contains(target) || close());
  menu.addEventListener('focusout', ({ relatedTarget }) => relatedTarget && !menu.contains(relatedTarget) && close());
  menu.addEventListener('toggle', () => menu.open && menu.querySelector('[type="text"]')?.focus());
  addEventListener('pagehide', close);
  document.addEventListener('keydown', (event) => {
    if (event.key !== 'Escape' || !menu.open) return;
    // Escape has other meanings on some pages.
    event.stopImmediatePropagation();
    close();
    menu.querySelector('summary').focus();
  });
}
