// Small pictures of the files in the list, from the files themselves. A few are decoded at a time, and only for rows in sight.
class UploadThumbnails {
  static #AT_ONCE = 2;
  static #SIDE_PX = 96;
  /** Longer files take long to decode. */
  static #MAX_BYTES = 40 * 2 ** 20;
  static #KINDS = /^image\/(jpeg|png|webp|gif|avif|bmp)$/;

  #waiting = new Map();
  #running = 0;
  #sight;

  /** For rows in this element, which scrolls. */
  constructor(root) {
    this.#sight = new IntersectionObserver((entries) => {
      for (const { target, isIntersecting } of entries) {
        if (isIntersecting) this.#waiting.set(target, target.file);
        else this.#waiting.delete(target);
      }
      this.#next();
    }, { root, rootMargin: '100px' });
  }

  /** Shows a file on a canvas in an element as soon as the element comes into sight. */
  watch(frame, file) {
    if (!UploadThumbnails.#KINDS.test(file.type) || file.size > UploadThumbnails.#MAX_BYTES) return;
    frame.file = file;
    this.#sight.observe(frame);
  }

  forget(frame) {
    this.#sight.unobserve(frame);
    this.#waiting.delete(frame);
  }

  #next() {
    for (const [frame, file] of this.#waiting) {
      if (this.#running >= UploadThumbnails.#AT_ONCE) return;
      this.forget(frame);
      this.#running += 1;
      this.#draw(frame.querySelector('canvas'), file).finally(() => {
        this.#running -= 1;
        this.#next();
      });
    }
  }

  async #draw(canvas, file) {
    try {
      // The browser decodes it in another thread.
      const picture = await createImageBitmap(file, { resizeHeight: UploadThumbnails.#SIDE_PX, resizeQuality: 'medium' });
      canvas.width = picture.width;
      canvas.height = picture.height;
      canvas.getContext('bitmaprenderer').transferFromImageBitmap(picture);
      canvas.hidden = false;
    } catch {
      // The browser cannot decode it, so the row keeps its icon.
    }
  }
}
