// Starts the script of the photo page or of the map.

import { announce, areLettersOn, hasModifier, isPlainClick, isTyping, make, makeClose, pageKeys, requestJson, showMessage } from './shared.js';

for (const [selector, start] of Object.entries({ 'main.photo': startPhoto, '#map': startMap })) {
  const element = document.querySelector(selector);
  if (element) start(element);
}
