// The part of a page with tiles in the movement to the photo page and back.

/** Moves the tile of the photo whose page has this address, and returns its image. There is no movement to or from other pages. */
function moveTile(transition, address) {
  const id = /photos\/([\w-]+)(\?|$)/.exec(address)?.[1];
  const image = id && document.querySelector(`li[data-id="${id}"] img`);
  moveIn(transition, image);
  return image;
}

addEventListener('pageswap', ({ viewTransition, activation }) => {
  const image = moveTile(viewTransition, activation?.entry.url);
  if (image) sessionStorage[OPENED_TILE] = image.currentSrc;
});
addEventListener('pagereveal', ({ viewTransition }) => moveTile(viewTransition, window.navigation?.activation?.from?.url));
