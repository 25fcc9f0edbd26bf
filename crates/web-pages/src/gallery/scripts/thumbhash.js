// Placeholders from thumbhashes in the timeline: the mean colour, and a blurred picture.
//
// The format: 24 bits with the mean of luminance (L) and of two colour differences (P: yellow to blue, Q: red to green), and
// the scale of L; 16 bits with the number of coefficients of L and the scales of P and Q; then one nibble for each coefficient of
// a cosine transform, first those of L. Photos with transparency have a further channel and get only the mean colour.

const hashBytes = (hash) => Uint8Array.from(atob(hash), (character) => character.charCodeAt(0));

/** A CSS colour of values of L, P and Q. */
function colourOf([l, p, q]) {
  const blue = l - (2 / 3) * p;
  const red = (3 * l - blue + q) / 2;
  return `rgb(${[red, red - q, blue].map((value) => Math.round(value * 255))})`;
}

const meansOf = ([a, b, c]) => [(a & 63) / 63, (((a >> 6) | (b << 2)) & 63) / 31.5 - 1, (((b >> 4) | (c << 4)) & 63) / 31.5 - 1];

/** The mean colour of a photo. */
const meanColour = (hash) => colourOf(meansOf(hashBytes(hash)));

/** The longer side of the picture: about one pixel for each coefficient. The browser enlarges it smoothly. */
const HASH_PX = 8;

/** The URL of the blurred picture of a photo, which varies only the luminance of its mean colour; empty with transparency. */
function hashPicture(hash, ratio) {
  const bytes = hashBytes(hash);
  if (bytes[2] >> 7) return '';
  const [l, p, q] = meansOf(bytes);
  const short = Math.max(3, bytes[3] & 7);
  const [across, down] = bytes[4] >> 7 ? [7, short] : [short, 7];
  const scale = ((bytes[2] >> 2) & 31) / 15.5;
  const width = Math.round(HASH_PX * Math.min(1, ratio));
  const height = Math.round(HASH_PX / Math.max(1, ratio));
  const light = new Float32Array(width * height).fill(l);
  let nibble = 10;
  for (let y = 0; y < down; y += 1) {
    for (let x = y ? 0 : 1; x * down < across * (down - y); x += 1) {
      const value = (bytes[nibble >> 1] >> (nibble & 1 ? 4 : 0)) & 15;
      const wave = (length, at, times) => Math.cos((Math.PI / length) * (at + 0.5) * times);
      for (const at of light.keys()) {
        light[at] += (value / 7.5 - 1) * scale * wave(width, at % width, x) * wave(height, Math.floor(at / width), y);
      }
      nibble += 1;
    }
  }
  const canvas = make('canvas', { width, height });
  const context = canvas.getContext('2d');
  light.forEach((value, at) => {
    context.fillStyle = colourOf([value, p, q]);
    context.fillRect(at % width, Math.floor(at / width), 1, 1);
  });
  return canvas.toDataURL();
}
