// Placeholders from thumbhashes (timeline.js): the mean colour, and a blurred picture.
//
// The format: 24 bits with the mean of luminance (L) and of two colour differences (P: yellow to blue, Q: red to green), and
// the scale of L; 16 bits with the scales of P and Q and the number of coefficients; then one nibble for each coefficient
// of a cosine transform.

const hashBytes = (hash) => Uint8Array.from(atob(hash), (character) => character.charCodeAt(0));

/** Red, green and blue, 0 to 255, of values of L, P and Q. */
function rgbOf(l, p, q) {
  const blue = l - (2 / 3) * p;
  const red = (3 * l - blue + q) / 2;
  return [red, red - q, blue].map((value) => Math.round(255 * Math.min(1, Math.max(0, value))));
}

function meansOf([a, b, c]) {
  const head = a | (b << 8) | (c << 16);
  return [(head & 63) / 63, ((head >> 6) & 63) / 31.5 - 1, ((head >> 12) & 63) / 31.5 - 1];
}

/** The mean colour of a photo, as a CSS colour. */
function meanColour(hash) {
  return `rgb(${rgbOf(...meansOf(hashBytes(hash)))})`;
}

const hashCanvas = document.createElement('canvas');

/** The blurred picture of a photo, as a data URL. */
function hashPicture(hash, ratio) {
  const bytes = hashBytes(hash);
  const means = meansOf(bytes);
  const flags = bytes[3] | (bytes[4] << 8);
  const hasAlpha = bytes[2] >> 7;
  const [long, short] = [hasAlpha ? 5 : 7, Math.max(3, flags & 7)];
  const sizes = flags >> 15 ? [long, short] : [short, long];
  let nibble = (hasAlpha ? 6 : 5) * 2;
  const channel = ([across, down], scale) => {
    const terms = [];
    for (let y = 0; y < down; y += 1) {
      for (let x = y ? 0 : 1; x * down < across * (down - y); x += 1) {
        const value = (bytes[nibble >> 1] >> (nibble & 1 ? 4 : 0)) & 15;
        nibble += 1;
        terms.push([x, y, (value / 7.5 - 1) * scale]);
      }
    }
    return terms;
  };
  const channels = [
    channel(sizes, ((bytes[2] >> 2) & 31) / 31),
    channel([3, 3], (((flags >> 3) & 63) / 63) * 1.25),
    channel([3, 3], (((flags >> 9) & 63) / 63) * 1.25),
  ];
  const width = Math.round(ratio > 1 ? 24 : 24 * ratio);
  const height = Math.round(ratio > 1 ? 24 / ratio : 24);
  Object.assign(hashCanvas, { width, height });
  const context = hashCanvas.getContext('2d');
  const image = context.createImageData(width, height);
  const waves = (length) => Array.from({ length }, (_, at) => Array.from({ length: 7 }, (_, n) => Math.cos((Math.PI / length) * (at + 0.5) * n)));
  const [columns, lines] = [waves(width), waves(height)];
  for (let y = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1) {
      const values = channels.map((terms, index) =>
        terms.reduce((sum, [across, down, factor]) => sum + factor * columns[x][across] * lines[y][down] * 2, means[index]),
      );
      image.data.set([...rgbOf(...values), 255], (y * width + x) * 4);
    }
  }
  context.putImageData(image, 0, 0);
  return hashCanvas.toDataURL();
}
