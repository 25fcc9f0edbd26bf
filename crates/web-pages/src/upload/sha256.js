'use strict';

// SHA-256 (FIPS 180-4). The function of browsers exists only over https and on localhost, and only for bytes in memory.
class Sha256 {
  static #BLOCK_BYTES = 64;
  static #PRIMES = [...Array(312).keys()].filter((n) => n > 1 && ![2, 3, 5, 7, 11, 13, 17].some((p) => n > p && n % p === 0));
  /** The first 32 bits of the fractional parts of roots of primes (sections 4.2.2 and 5.3.3). */
  static #roots = (count, degree) => Int32Array.from(Sha256.#PRIMES.slice(0, count), (p) => ((p ** (1 / degree)) % 1) * 2 ** 32);
  static #ROUNDS = Sha256.#roots(64, 3);

  #state = Sha256.#roots(8, 2);
  #words = new Int32Array(64);
  #length = 0;
  /** The bytes after the last complete block. */
  #rest = new Uint8Array(0);

  /** Adds bytes. */
  update(bytes) {
    this.#length += bytes.length;
    if (this.#rest.length) {
      const joined = new Uint8Array(this.#rest.length + bytes.length);
      joined.set(this.#rest);
      joined.set(bytes, this.#rest.length);
      bytes = joined;
    }
    const end = bytes.length - (bytes.length % Sha256.#BLOCK_BYTES);
    this.#blocks(new DataView(bytes.buffer, bytes.byteOffset, end));
    this.#rest = bytes.slice(end);
    return this;
  }

  /** Returns the hash in hexadecimal. No bytes can be added afterwards. */
  digest() {
    const bits = this.#length * 8;
    const zeros = (2 * Sha256.#BLOCK_BYTES - 9 - (this.#length % Sha256.#BLOCK_BYTES)) % Sha256.#BLOCK_BYTES;
    const end = new DataView(new ArrayBuffer(1 + zeros + 8));
    end.setUint8(0, 0x80);
    end.setUint32(1 + zeros, bits / 2 ** 32);
    end.setUint32(1 + zeros + 4, bits % 2 ** 32);
    this.update(new Uint8Array(end.buffer));
    return Array.from(this.#state, (word) => (word >>> 0).toString(16).padStart(8, '0')).join('');
  }

  /** Processes complete blocks (section 6.2.2). */
  #blocks(view) {
    const words = this.#words;
    const rounds = Sha256.#ROUNDS;
    const state = this.#state;
    for (let start = 0; start < view.byteLength; start += Sha256.#BLOCK_BYTES) {
      for (let t = 0; t < 16; t += 1) words[t] = view.getInt32(start + 4 * t);
      for (let t = 16; t < 64; t += 1) {
        const x = words[t - 15];
        const y = words[t - 2];
        const s0 = ((x >>> 7) | (x << 25)) ^ ((x >>> 18) | (x << 14)) ^ (x >>> 3);
        const s1 = ((y >>> 17) | (y << 15)) ^ ((y >>> 19) | (y << 13)) ^ (y >>> 10);
        words[t] = (s1 + words[t - 7] + s0 + words[t - 16]) | 0;
      }
      let a = state[0];
      let b = state[1];
      let c = state[2];
      let d = state[3];
      let e = state[4];
      let f = state[5];
      let g = state[6];
      let h = state[7];
      for (let t = 0; t < 64; t += 1) {
        const s1 = ((e >>> 6) | (e << 26)) ^ ((e >>> 11) | (e << 21)) ^ ((e >>> 25) | (e << 7));
        const t1 = (h + s1 + ((e & f) ^ (~e & g)) + rounds[t] + words[t]) | 0;
        const s0 = ((a >>> 2) | (a << 30)) ^ ((a >>> 13) | (a << 19)) ^ ((a >>> 22) | (a << 10));
        const t2 = (s0 + ((a & b) ^ (a & c) ^ (b & c))) | 0;
        h = g;
        g = f;
        f = e;
        e = (d + t1) | 0;
        d = c;
        c = b;
        b = a;
        a = (t1 + t2) | 0;
      }
      state[0] += a;
      state[1] += b;
      state[2] += c;
      state[3] += d;
      state[4] += e;
      state[5] += f;
      state[6] += g;
      state[7] += h;
    }
  }
}
