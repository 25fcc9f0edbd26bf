// Starts the script of a page with photos.

for (const [selector, start] of Object.entries({ '#timeline': startTimeline, '#empty': startEmpty })) {
  const element = document.querySelector(selector);
  if (element) start(element);
}
