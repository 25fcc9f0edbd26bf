// Starts the script of a page with photos.

import { Range, announce, areLettersOn, dateText, dayText, dialogForm, hasModifier, isTyping, make, makeButton, monthText, numberFormat, openDialog, pageKeys, photosText, requestJson, showMessage } from './shared.js';

for (const [selector, start] of Object.entries({ '#timeline': startTimeline, '#empty': startEmpty })) {
  const element = document.querySelector(selector);
  if (element) start(element);
}
