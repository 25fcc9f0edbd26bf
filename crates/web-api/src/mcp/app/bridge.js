// The bridge to the host: JSON-RPC 2.0 over postMessage (MCP Apps, revision 2026-01-26). The host is the parent window;
// messages from other windows are ignored. Its origin is unknown, so messages are sent with the target origin `*`.

const APPS_REVISION = '2026-01-26';
const RESPONSE_TIMEOUT_MS = 30_000;
const METHOD_NOT_FOUND = -32601;

/** A failed request. After a time-out (`isTimeout`) it is unknown whether the request had an effect. */
class RequestFailed extends Error {
  constructor(message, isTimeout = false) {
    super(message);
    this.isTimeout = isTimeout;
  }
}

class Bridge {
  #pending = new Map();
  #lastId = 0;
  #notificationHandlers;
  #requestHandlers;
  capabilities = {};
  context = {};

  /** Both arguments map the methods that the host may call to functions. */
  constructor(notificationHandlers, requestHandlers) {
    this.#notificationHandlers = notificationHandlers;
    this.#requestHandlers = requestHandlers;
  }

  /** Initializes the connection. Afterwards the capabilities and the context of the host are known. */
  async open(appInfo, appCapabilities) {
    window.addEventListener('message', (event) => {
      if (event.source === window.parent && event.data?.jsonrpc === '2.0') this.#receive(event.data);
    });
    const params = { appInfo, appCapabilities, protocolVersion: APPS_REVISION };
    const result = await this.request('ui/initialize', params);
    this.capabilities = result?.hostCapabilities ?? {};
    this.context = result?.hostContext ?? {};
    this.notify('ui/notifications/initialized', {});
  }

  request(method, params) {
    const id = (this.#lastId += 1);
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#pending.delete(id);
        reject(new RequestFailed('the host did not respond in time', true));
      }, RESPONSE_TIMEOUT_MS);
      this.#pending.set(id, { resolve, reject, timer });
      this.#post({ id, method, params });
    });
  }

  notify(method, params) {
    this.#post({ method, params });
  }

  #post(message) {
    window.parent.postMessage({ jsonrpc: '2.0', ...message }, '*');
  }

  #receive(message) {
    const { id, method, params } = message;
    if (typeof method !== 'string') return this.#settle(message);
    const isRequest = id !== undefined && id !== null;
    const handlers = isRequest ? this.#requestHandlers : this.#notificationHandlers;
    const handler = Object.hasOwn(handlers, method) ? handlers[method] : undefined;
    if (!isRequest) return handler?.(params ?? {});
    if (handler) return this.#post({ id, result: handler(params ?? {}) });
    this.#post({ id, error: { code: METHOD_NOT_FOUND, message: `This app has no method ${method}.` } });
  }

  #settle({ id, result, error }) {
    const pending = this.#pending.get(id);
    if (!pending) return;
    this.#pending.delete(id);
    clearTimeout(pending.timer);
    if (error) pending.reject(new RequestFailed(String(error.message ?? 'the host rejected the request')));
    else pending.resolve(result);
  }
}
