// Finds the photos that the library has, before they are sent.
const UploadKnown = {
  /** The browser hashes a short file from memory. Others are hashed here in slices, and the page responds between them. */
  WHOLE_BYTES: 8 * 2 ** 20,
  SLICE_BYTES: 2 ** 19,

  /** The SHA-256 of a file, or nothing if the library will not take it, it cannot be read, or `isStopped` returns true. */
  async hash(file, maxBytes, isStopped) {
    // The server refuses these by their length and first bytes.
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

  /** Those of the hashes that belong to photos in the library. */
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
