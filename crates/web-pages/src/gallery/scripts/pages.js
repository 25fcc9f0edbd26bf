// Starts the script of the page.

for (const [selector, start] of Object.entries({ '#timeline': startTimeline, 'main.photo': startPhoto, '#map': startMap })) {
  const element = document.querySelector(selector);
  if (element) start(element);
}
