// Prepares the photo page before its first paint. It is a classic script, so the module that loads later sees its functions.

const ABOUT = 'photo-library-about';
const root = document.documentElement;
root.classList.add('script');
root.dataset.about = sessionStorage.getItem(ABOUT) && matchMedia('(min-width: 56.25rem)').matches ? 'open' : '';

/** Gives the picture its size, and shows a small image, which is probably in the browser's cache, until it has loaded. */
function placePicture(image, { id, v }) {
  const { style } = image;
  style.setProperty('--ratio', image.getAttribute('width') / image.getAttribute('height'));
  if (image.complete) return;
  const tile = sessionStorage[OPENED_TILE];
  style.background = `url(${tile?.includes(id) ? tile : `/p/${id}/${v}/256.webp`}) center / 100% 100%`;
  image.addEventListener('load', () => (style.background = ''), { once: true });
}

addEventListener('pagereveal', ({ viewTransition }) => {
  const image = document.getElementById('photo');
  if (image) placePicture(image, document.querySelector('main').dataset);
  movePicture(viewTransition, window.navigation?.activation?.from?.url);
});
addEventListener('pageswap', ({ viewTransition, activation }) => movePicture(viewTransition, activation?.entry.url));

/** Moves the picture between this page and the page that it was opened from, and between no others. */
function movePicture(transition, address) {
  const [image, back] = ['photo', 'back'].map((id) => document.getElementById(id));
  const pathOf = (of) => new URL(of, location).pathname;
  moveIn(transition, image && address && pathOf(address) === pathOf(back.href) && image);
}
