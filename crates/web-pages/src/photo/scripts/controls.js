// What lies over the picture: it fades while nothing happens. Also the panel beside the picture, and the full screen.

const IDLE_MS = 3_000;
const ICONS = {
  play: 'M8 5.5v13l10-6.5z',
  pause: 'M8.5 5.5v13M15.5 5.5v13',
  full: 'M4.5 9V4.5H9M15 4.5h4.5V9M19.5 15v4.5H15M9 19.5H4.5V15',
};

/** A button with an icon for the bar. */
function makeIconButton(icon, label, onclick) {
  const svg = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
  const path = document.createElementNS(svg.namespaceURI, 'path');
  svg.setAttribute('class', 'icon');
  svg.setAttribute('viewBox', '0 0 24 24');
  svg.setAttribute('aria-hidden', 'true');
  svg.append(path);
  const button = make('button', { type: 'button', onclick }, svg);
  /** Changes what the button says and shows. */
  button.show = (icon, label) => {
    path.setAttribute('d', ICONS[icon]);
    button.title = button.ariaLabel = label;
  };
  button.show(icon, label);
  return button;
}

/** Fades the controls while nothing happens. Returns a function that shows or hides them, for a tap on the picture. */
function fadeControls(main) {
  let timer;
  const wake = () => {
    clearTimeout(timer);
    main.classList.remove('idle');
    timer = setTimeout(rest, IDLE_MS);
  };
  const rest = () => {
    // Controls stay while they are in use.
    if (main.querySelector(':is(.bar, .strip, .stage > nav) :is(:focus-visible, :hover), .bar details[open]')) return wake();
    main.classList.add('idle');
  };
  document.addEventListener('pointermove', ({ pointerType }) => pointerType !== 'touch' && wake());
  for (const name of ['keydown', 'focusin']) document.addEventListener(name, wake);
  main.addEventListener('pointerdown', ({ target }) => target.closest('.bar, .strip, .stage > nav') && wake());
  wake();
  return () => (main.classList.contains('idle') ? wake() : rest());
}

/** The confirmation in the bar closes by Escape, and by a press outside of it. */
function closeConfirmations(main) {
  const opened = () => main.querySelector('.bar details[open]');
  document.addEventListener('pointerdown', ({ target }) => {
    if (opened()?.contains(target) === false) opened().open = false;
  });
  document.addEventListener('keydown', (event) => {
    if (event.key !== 'Escape' || !opened()) return;
    event.stopImmediatePropagation();
    const summary = opened().querySelector('summary');
    opened().open = false;
    summary.focus();
  });
}

/** The panel with what is known about the photo. */
class AboutPanel {
  constructor(main) {
    this.main = main;
  }

  get isOpen() {
    return root.dataset.about === 'open';
  }

  /** Whether it covers the picture, in small windows. */
  get isCovering() {
    return this.isOpen && !this.main.querySelector('.stage').checkVisibility({ visibilityProperty: true });
  }

  toggle(isOpen = !this.isOpen) {
    const focused = document.activeElement;
    const hadFocus = this.main.querySelector('.about').contains(focused);
    root.dataset.about = isOpen ? 'open' : '';
    if (isOpen) sessionStorage.setItem(ABOUT, 'open');
    else sessionStorage.removeItem(ABOUT);
    this.#show();
    if (hadFocus && !isOpen) this.main.querySelector('#info').focus();
    if (this.isCovering) this.main.querySelector('.about .close').focus();
  }

  /** Makes the controls of a photo that has just been put into the page. */
  prepare() {
    const [info, head] = ['#info', '.about .head'].map((selector) => this.main.querySelector(selector));
    info.role = 'button';
    info.setAttribute('aria-controls', 'about');
    if (!head.querySelector('.close')) head.append(makeClose('Close', () => this.toggle(false)));
    this.#show();
  }

  #show() {
    this.main.querySelector('#info').ariaExpanded = this.isOpen;
  }
}

function toggleFullScreen() {
  if (document.fullscreenElement) document.exitFullscreen();
  else root.requestFullscreen?.().catch(() => {});
}
