// The bridge to the host: JSON-RPC 2.0 over postMessage, as MCP Apps (revision 2026-01-26) has it. The host is the window
// around this one; nobody else is listened to. Its origin is not known, so messages go to whatever stands there.

const APPS_REVISION = '2026-01-26';
const ANSWER_TIMEOUT_MS = 30_000;
const METHOD_NOT_FOUND = -32601;

/** A request that failed; `isTimeout` when nobody knows what became of it. */
class RequestFailed extends Error {
  constructor(message, isTimeout = false) {
    super(message);
    this.isTimeout = isTimeout;
  }
}

class Bridge {
  #waiting = new Map();
  #sent = 0;
  #notified;
  #answers;
  capabilities = {};
  context = {};

  /** `notified` and `answers` have a function for each method that the host may use. */
  constructor(notified, answers) {
    this.#notified = notified;
    this.#answers = answers;
  }

  /** Introduces the app; afterwards the capabilities and the context of the host are known. */
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
    const id = (this.#sent += 1);
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#waiting.delete(id);
        reject(new RequestFailed('the host did not answer in time', true));
      }, ANSWER_TIMEOUT_MS);
      this.#waiting.set(id, { resolve, reject, timer });
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
    const table = isRequest ? this.#answers : this.#notified;
    const action = Object.hasOwn(table, method) ? table[method] : undefined;
    if (!isRequest) return action?.(params ?? {});
    if (action) return this.#post({ id, result: action(params ?? {}) });
    this.#post({ id, error: { code: METHOD_NOT_FOUND, message: `This app has no method ${method}.` } });
  }

  #settle({ id, result, error }) {
    const waiting = this.#waiting.get(id);
    if (!waiting) return;
    this.#waiting.delete(id);
    clearTimeout(waiting.timer);
    if (error) waiting.reject(new RequestFailed(String(error.message ?? 'the host refused')));
    else waiting.resolve(result);
  }
}
