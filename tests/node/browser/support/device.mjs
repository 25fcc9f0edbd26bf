// A device that syncs photos: the requests of Nextcloud's apps that sign in.

export class Device {
  #service;
  #credentials;
  #flow;

  constructor(service, credentials) {
    this.#service = service;
    this.#credentials = credentials;
  }

  /** Begins a login flow. */
  static async begin(service, userAgent) {
    // Header values are bytes: names of devices are sent in UTF-8.
    const headers = { 'user-agent': Buffer.from(userAgent, 'utf8').toString('latin1') };
    const answer = await service.fetch('/index.php/login/v2', { method: 'POST', headers });
    if (answer.status !== 200) throw new Error(`no login flow: ${answer.status} ${await answer.text()}`);
    const device = new Device(service);
    device.#flow = await answer.json();
    return device;
  }

  /** The URL of the page that connects the device. */
  get login() {
    return this.#flow.login;
  }

  /** Polls, and returns the HTTP status. */
  async poll() {
    const answer = await this.#service.fetch(new URL(this.#flow.poll.endpoint).pathname, {
      method: 'POST',
      body: new URLSearchParams({ token: this.#flow.poll.token }),
    });
    if (answer.status !== 200) {
      await answer.text();
      return answer.status;
    }
    const { loginName, appPassword } = await answer.json();
    this.#credentials = { user: loginName, password: appPassword };
    return answer.status;
  }

  /** The HTTP status of a request with its password. */
  async status() {
    const { user, password } = this.#credentials;
    const authorization = `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;
    const answer = await this.#service.fetch('/ocs/v2.php/cloud/capabilities', { headers: { authorization } });
    await answer.text();
    return answer.status;
  }
}
