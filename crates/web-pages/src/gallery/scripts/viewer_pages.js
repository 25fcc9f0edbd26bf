// Starts the script of the photo page or of the map.

for (const [selector, start] of Object.entries({ 'main.photo': startPhoto, '#map': startMap })) {
  const element = document.querySelector(selector);
  if (element) start(element);
}
