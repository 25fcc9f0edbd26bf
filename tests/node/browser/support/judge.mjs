// Accessibility checks beyond axe-core. Each function returns the faults as text. Functions passed to `evaluate` run in the
// page.

/** Every interactive element. */
const CONTROLS = 'a[href], button, input:not([type="hidden"], [hidden]), select, textarea, summary, [tabindex="0"]';
const DESK = { width: 1280, height: 900 };
/** Minimum contrast of the focus indicator (WCAG 2.2, 1.4.11 and 2.4.7). */
const FOCUS_CONTRAST = 3;

/** Text spacing that must not lose content (WCAG 2.2, 1.4.12). */
const SPACED = `
  * { line-height: 1.5 !important; letter-spacing: 0.12em !important; word-spacing: 0.16em !important; }
  p { margin-bottom: 2em !important; }`;
/** Text at 200 % (WCAG 2.2, 1.4.4). */
const LARGE = 'html { font-size: 200% !important; }';
/** Reflow at 320 pixels (WCAG 2.2, 1.4.10). */
const FITS = [
  { name: 'as it is', width: 320, style: '' },
  { name: 'spaced', width: 320, style: SPACED },
  { name: 'large letters', width: 360, style: LARGE },
  { name: 'large letters', width: 1280, style: LARGE },
];

/** Resizes the window and waits until the page, or a frame in it, has the new width and has been drawn again. */
export async function resize(page, size, frame = page) {
  await page.setViewportSize(size);
  await frame.waitForFunction((width) => window.innerWidth === width, size.width);
  await frame.evaluate(untilDrawn);
}

/** In the page: waits until nothing has changed for two frames. Scripts draw in several. */
function untilDrawn() {
  return new Promise((resolve) => {
    let frames = 0;
    const changes = new MutationObserver(() => (frames = 0));
    changes.observe(document, { subtree: true, childList: true, attributes: true });
    const next = () => {
      frames += 1;
      if (frames <= 2) return requestAnimationFrame(next);
      changes.disconnect();
      return resolve();
    };
    requestAnimationFrame(next);
  });
}

/** Nothing overflows, needs horizontal scrolling or is cut off. */
export async function faultsOfFit(page) {
  const faults = [];
  for (const { name, width, style } of FITS) {
    await resize(page, { width, height: 800 });
    const found = await page.evaluate((text) => {
      const sheet = new CSSStyleSheet();
      sheet.replaceSync(text);
      document.adoptedStyleSheets = [sheet];
      const root = document.documentElement;
      const faults = root.scrollWidth > root.clientWidth ? [`${root.scrollWidth - root.clientWidth} px too wide`] : [];
      for (const element of document.body.querySelectorAll('*')) {
        // The edge of a map cuts off its parts.
        if (element.closest('.pin-map g')) continue;
        const { left, right, width } = element.getBoundingClientRect();
        const named = `<${element.localName}> ${element.textContent.trim().slice(0, 40)}`;
        // An element wholly outside, such as a skip link, appears when it has the focus.
        if (width > 0 && right > 0 && (left < -0.5 || right > root.clientWidth + 0.5)) faults.push(`${named} sticks out`);
        const isCut = getComputedStyle(element).overflowX !== 'visible' && element.localName !== 'input';
        if (isCut && element.scrollWidth > element.clientWidth + 1) faults.push(`${named} is cut off`);
      }
      document.adoptedStyleSheets = [];
      return faults;
    }, style);
    faults.push(...found.map((fault) => `at ${width} px, ${name}: ${fault}`));
  }
  await resize(page, DESK);
  return faults;
}

/** Tab reaches every control in document order, and the focus is visible, in light and in dark. */
export async function faultsOfKeyboard(page) {
  await page.emulateMedia({ colorScheme: 'light' });
  await page.evaluate(defineOutline);
  const count = await page.evaluate((selector) => {
    window.controls = [...document.querySelectorAll(selector)].filter((control) => control.checkVisibility());
    document.body.tabIndex = -1;
    document.body.focus();
    document.body.removeAttribute('tabindex');
    return window.controls.length;
  }, CONTROLS);
  const faults = [];
  for (let place = 0; place < count; place += 1) {
    await page.keyboard.press('Tab');
    const found = await page.evaluate(focusAt, { place, contrast: FOCUS_CONTRAST });
    faults.push(...found.map((fault) => `by keyboard, light: ${fault}`));
  }
  await page.emulateMedia({ colorScheme: 'dark' });
  // The tab order is the same in both. After a key press, browsers draw a focus that a script sets like one from the keyboard.
  const found = await page.evaluate(focusEach, { contrast: FOCUS_CONTRAST });
  faults.push(...found.map((fault) => `by keyboard, dark: ${fault}`));
  await page.emulateMedia({ colorScheme: null });
  return faults;
}

/** In the page: faults of the focus, which should be on the control at this position. */
async function focusAt({ place, contrast }) {
  // Scrolling to the focused element takes a frame.
  await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
  const focused = document.activeElement;
  if (focused !== window.controls[place]) return [`${window.named(focused)} instead of ${window.named(window.controls[place])}`];
  const faults = window.faultsOfOutline(focused, contrast);
  const { top, bottom } = focused.getBoundingClientRect();
  const isInSight = top > -1 && bottom < window.innerHeight + 1;
  const { left, width } = focused.getBoundingClientRect();
  const header = document.querySelector('.top');
  const isCovered = !header.contains(focused) && header.contains(document.elementFromPoint(left + width / 2, top + 2));
  if (isCovered) faults.push(`${window.named(focused)} is covered by the header`);
  if (!isInSight) faults.push(`${window.named(focused)} is out of sight: ${top} to ${bottom} of ${window.innerHeight} px`);
  return faults;
}

/** In the page: moves the focus to each control; faults of its indicator. */
function focusEach({ contrast }) {
  return window.controls.flatMap((control) => {
    control.focus({ preventScroll: true });
    const isFocused = document.activeElement === control;
    return isFocused ? window.faultsOfOutline(control, contrast) : [`${window.named(control)} takes no focus`];
  });
}

/** Defines functions in the page for those above. */
function defineOutline() {
  window.named = (element) => `<${element.localName}> ${element.name || element.textContent.trim().slice(0, 40)}`;
  const channels = (colour) => colour.match(/[\d.]+/g).map(Number);
  const luminance = (colour) => {
    const [red, green, blue] = channels(colour).map((channel) => {
      const part = channel / 255;
      return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  window.faultsOfOutline = (focused, contrast) => {
    let behind = focused.parentElement;
    while (behind.parentElement && channels(getComputedStyle(behind).backgroundColor)[3] === 0) {
      behind = behind.parentElement;
    }
    const { outlineStyle, outlineWidth, outlineColor } = getComputedStyle(focused);
    const lights = [luminance(outlineColor), luminance(getComputedStyle(behind).backgroundColor)].sort((a, b) => b - a);
    const faults = [];
    if (outlineStyle === 'none' || parseFloat(outlineWidth) < 2) faults.push(`${window.named(focused)} has no outline`);
    if ((lights[0] + 0.05) / (lights[1] + 0.05) < contrast) faults.push(`the outline of ${window.named(focused)} is faint`);
    return faults;
  };
}

/** Nothing moves with reduced motion, which the browser context must request. */
export async function faultsOfMotion(page) {
  return page.evaluate(() => {
    const moving = document.getAnimations().map(({ effect }) => effect?.target);
    const moves = (element) => {
      const { transitionDuration, animationName, scrollBehavior } = getComputedStyle(element);
      const lasts = transitionDuration.split(',').some((duration) => parseFloat(duration) > 0.01);
      return lasts || animationName !== 'none' || scrollBehavior === 'smooth' || moving.includes(element);
    };
    return [...document.querySelectorAll('*')].filter(moves).map(({ localName }) => `<${localName}> moves`);
  });
}

/** Controls stay visible with forced colours. */
export async function faultsOfOwnColours(page) {
  await page.emulateMedia({ forcedColors: 'active' });
  const faults = await page.evaluate(() => {
    const isSeen = (control) => {
      const style = getComputedStyle(control);
      const isPlain = ['checkbox', 'radio'].includes(control.type);
      const hasEdge = style.borderTopStyle !== 'none' && parseFloat(style.borderTopWidth) >= 1;
      const stands = style.borderTopColor !== getComputedStyle(document.body).backgroundColor;
      return style.forcedColorAdjust !== 'none' && (isPlain || (hasEdge && stands)) && style.color !== style.backgroundColor;
    };
    const controls = [...document.querySelectorAll('button, input:not([type="hidden"], [hidden])')];
    const lost = controls.filter((control) => !isSeen(control));
    return lost.map((control) => `<${control.localName}> ${control.name || control.textContent} is not seen`);
  });
  await page.emulateMedia({ forcedColors: null });
  return faults;
}
