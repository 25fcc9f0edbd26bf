// Elements of the tray.
const make = (name, properties = {}, ...children) => {
  const element = Object.assign(document.createElement(name), properties);
  element.append(...children);
  return element;
};

const makeButton = (textContent, onclick, className = 'quiet') => make('button', { type: 'button', textContent, className, onclick });

/** An icon of strokes on a grid of 24 by 24. */
function makeIcon(strokes) {
  const [icon, path] = ['svg', 'path'].map((name) => document.createElementNS('http://www.w3.org/2000/svg', name));
  icon.setAttribute('class', 'icon');
  icon.setAttribute('viewBox', '0 0 24 24');
  icon.ariaHidden = 'true';
  path.setAttribute('d', strokes);
  icon.append(path);
  return icon;
}

const UPLOAD_ICONS = {
  photo: 'M3.5 4.5h17v15h-17zM3.5 17l5-5 3.5 3.5L15.5 11l5 5M9 8.5v.01',
  upload: 'M12 16V4.5M7 9.5l5-5 5 5M4.5 15.5v5h15v-5',
  more: 'M6 9.5l6 6 6-6',
  close: 'M6 6l12 12M18 6L6 18',
};

const setText = (element, text) => {
  if (element.textContent !== text) element.textContent = text;
};
