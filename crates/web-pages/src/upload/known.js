// Finds out which photos the library has already, so that they are not sent.
const UploadKnown = {
  /**
   * Files up to this length are hashed by the browser, in memory, if it can. Other files are hashed here in slices, so that the
   * page stays responsive.
   */
  WHOLE_BYTES: 8 * 2 ** 20,
  SLICE_BYTES: 2 ** 19,

  /**
   * The SHA-256 of a file. Returns nothing if the library would refuse the file, if the file cannot be read, or when `isStopped`
   * returns true.
   */
  async hash(file, maxBytes, isStopped) {
    // The server refuses these files anyway.
    if (file.size === 0 || file.size > maxBytes || file.type.startsWith('video/')) return undefined;
    try {
      return crypto.subtle && file.size <= this.WHOLE_BYTES ? await this.hashWhole(file) : await this.hashSlices(file, isStopped);
    } catch {
      return undefined;
    }
  },

  async hashWhole(file) {
    const hash = await crypto.subtle.digest('SHA-256', await file.arrayBuffer());
    return Array.from(new Uint8Array(hash), (byte) => byte.toString(16).padStart(2, '0')).join('');
  },

  async hashSlices(file, isStopped) {
    const hash = new Sha256();
    for (let start = 0; start < file.size; start += this.SLICE_BYTES) {
      if (isStopped()) return undefined;
      hash.update(new Uint8Array(await file.slice(start, start + this.SLICE_BYTES).arrayBuffer()));
    }
    return hash.digest();
  },

  /** Returns the hashes that belong to photos in the library. */
  async known(sha256) {
    if (!sha256.length) return [];
    const headers = { 'Content-Type': 'application/json' };
    try {
      const reply = await fetch('/upload/known', { method: 'POST', headers, body: JSON.stringify({ sha256 }) });
      return reply.ok ? (await reply.json()).known : [];
    } catch {
      return [];
    }
  },
};
