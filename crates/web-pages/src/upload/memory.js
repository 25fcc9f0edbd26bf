// Keeps the addresses of unfinished uploads in the browser, so that a new page continues them.
class UploadMemory {
  static #KEPT_MS = 24 * 3600 * 1000;
  #prefix;

  constructor(account) {
    this.#prefix = `upload:${account}:`;
    try {
      for (const name of Object.keys(localStorage)) {
        if (name.startsWith('upload:') && !this.#address(name)) localStorage.removeItem(name);
      }
    } catch {
      // Storage is disabled.
    }
  }

  remember(key, url) {
    try {
      localStorage.setItem(this.#prefix + key, JSON.stringify({ url, at: Date.now() }));
    } catch {
      // Storage is full or disabled. After the page is closed, the upload then starts from the beginning.
    }
  }

  recall(key) {
    return this.#address(this.#prefix + key);
  }

  forget(key) {
    try {
      localStorage.removeItem(this.#prefix + key);
    } catch {
      // Nothing was stored.
    }
  }

  #address(name) {
    try {
      const { url, at } = JSON.parse(localStorage.getItem(name));
      return Date.now() - at < UploadMemory.#KEPT_MS ? url : undefined;
    } catch {
      return undefined;
    }
  }
}
