// Sends photos by tus 1.0, in parts.
class UploadSender {
  /** Proxies often limit a request to 100 MB. */
  static #PART_BYTES = 32 * 2 ** 20;
  /** The first request sends the first bytes, so that the server can refuse a file that is no photo. It sends a short file whole. */
  static #HEAD_BYTES = 64 * 2 ** 10;
  static #SHORT_BYTES = 2 ** 20;
  static #STALLED_MS = 120 * 1000;
  /**
   * Statuses after which a file is not retried automatically. Two of them depend on free space and unfinished uploads, so the
   * person may retry.
   */
  static #FINAL = [400, 403, 413, 415, 507];
  static #FINAL_FOR_NOW = [403, 507];
  static #VERSION = { 'Tus-Resumable': '1.0.0' };

  #memory;
  #maxBytes;
  #changed;

  /** `changed()` is called when the number of bytes that were sent has changed. */
  constructor(memory, maxBytes, changed) {
    this.#memory = memory;
    this.#maxBytes = maxBytes;
    this.#changed = changed;
  }

  /** Sends a file. Returns its outcome and the id of the photo, or throws an error whose message is the reason. */
  async send(item) {
    item.isAnswered = false;
    item.url ??= this.#memory.recall(item.key);
    let reply = item.url ? await this.#request(item, 'HEAD', item.url, {}) : undefined;
    if (!reply || [403, 404, 410].includes(reply.status)) {
      this.forget(item);
      reply = await this.#begin(item);
    }
    this.#check(item, reply);
    for (;;) {
      const result = this.#received(item, reply);
      if (result) return { outcome: result, id: reply.getResponseHeader('Photo-Id') };
      const part = item.file.slice(item.sent, item.sent + UploadSender.#PART_BYTES);
      reply = await this.#request(item, 'PATCH', item.url, { 'Upload-Offset': item.sent }, part);
      this.#check(item, reply);
    }
  }

  /** Forgets an upload, so that the file is sent from its beginning. */
  forget(item) {
    item.url = undefined;
    item.sent = item.reached = 0;
    this.#memory.forget(item.key);
  }

  /** Ends the upload of a file that is no longer wanted. */
  cancel(item, url) {
    item.request?.abort();
    if (url) fetch(url, { method: 'DELETE', headers: UploadSender.#VERSION }).catch(() => undefined);
  }

  async #begin(item) {
    const { file } = item;
    const reply = await this.#request(item, 'POST', '/upload/', {
      'Upload-Length': file.size,
      'Upload-Metadata': `filename ${UploadSender.#base64(file.name)},lastModified ${UploadSender.#base64(String(file.lastModified))}`,
    }, file.slice(0, file.size > UploadSender.#SHORT_BYTES ? UploadSender.#HEAD_BYTES : file.size));
    if (reply.status === 201) {
      item.url = reply.getResponseHeader('Location');
      this.#memory.remember(item.key, item.url);
    }
    return reply;
  }

  /** Takes the offset from the response. Returns the outcome if the photo is in the library. */
  #received(item, reply) {
    item.sent = Number(reply.getResponseHeader('Upload-Offset'));
    if (item.sent > item.reached) item.tries = item.waits = 0;
    item.reached = item.sent;
    this.#changed();
    return reply.getResponseHeader('Photo-Result');
  }

  #check(item, { status, responseText }) {
    if (status < 300) return;
    item.sent = item.reached;
    throw Object.assign(new Error(this.#reason(status, responseText)), {
      isFinal: UploadSender.#FINAL.includes(status),
      isRetryable: UploadSender.#FINAL_FOR_NOW.includes(status),
      isSignedOut: status === 401,
    });
  }

  /** Why a file was refused, as a sentence. */
  #reason(status, text) {
    if (status === 413) return `It is larger than the limit of ${Math.floor(this.#maxBytes / 1e6)} MB.`;
    if (status === 507) return 'Your storage is full.';
    if (status === 503) return 'The library is busy.';
    try {
      const { error } = JSON.parse(text);
      if (/video/.test(error)) return 'Movies cannot be added, only photos.';
      return `${error[0].toUpperCase()}${error.slice(1)}.`;
    } catch {
      // The response is the error page of a proxy.
      return `The server answered with an error (${status}).`;
    }
  }

  #request(item, method, url, headers, body) {
    return new Promise((done, failed) => {
      const request = new XMLHttpRequest();
      item.request = request;
      request.open(method, url);
      for (const [name, value] of Object.entries({ ...UploadSender.#VERSION, ...headers })) request.setRequestHeader(name, value);
      const offset = item.sent;
      let stalled;
      const watch = () => {
        clearTimeout(stalled);
        stalled = setTimeout(() => request.abort(), UploadSender.#STALLED_MS);
      };
      watch();
      if (body) {
        request.setRequestHeader('Content-Type', 'application/offset+octet-stream');
        request.upload.onprogress = ({ loaded }) => {
          item.sent = offset + loaded;
          watch();
          this.#changed();
        };
      }
      request.onloadend = () => clearTimeout(stalled);
      request.onload = () => {
        item.isAnswered = true;
        done(request);
      };
      request.onerror = request.onabort = () => {
        item.sent = offset;
        failed(new Error('The connection was lost.'));
      };
      request.send(body);
    });
  }

  static #base64(text) {
    return btoa(Array.from(new TextEncoder().encode(text), (byte) => String.fromCharCode(byte)).join(''));
  }
}
