// A real server on its own empty data folder.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

/** Ends the wait for a server that does not start. */
const START_TIMEOUT_MS = 2 * 60_000;

/** The password of every test account. */
export const PASSWORD = 'a password of the tests';

/**
 * The caller's environment without its PHOTOS_ settings, with links on the consent page, and with OCR off, because OCR would slow
 * the browser down.
 */
const environment = {
  ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('PHOTOS_'))),
  PHOTOS_OCR_LANGUAGES: 'off',
  PHOTOS_POLICY_URL: 'https://photos.example/privacy',
  PHOTOS_TERMS_URL: 'https://photos.example/terms',
  PHOTOS_SUPPORT_URL: 'https://photos.example/help',
};

export class Service {
  #dataDir;
  #server;
  #address;
  #log = '';
  /** The lines that the server has printed. */
  output = [];

  /** Starts a server. With a base URL, browsers reach it through `proxy`. With a folder, it serves a copy of the library in it. */
  static async start({ baseUrl, folder } = {}) {
    const service = new Service();
    const named = baseUrl ? ['--base-url', baseUrl] : [];
    service.#dataDir = await mkdtemp(join(tmpdir(), 'photo-library-'));
    if (folder) await cp(folder, service.#dataDir, { recursive: true });
    service.#server = service.#spawn(['serve', '--listen', '127.0.0.1:0', ...named], 'ignore');
    try {
      service.#address = await service.#listening();
    } catch (error) {
      await service.stop();
      throw error;
    }
    service.origin = baseUrl ?? service.#address;
    // The server also understands requests that are meant for a proxy. With the server as its proxy, a browser looks up no names.
    service.proxy = baseUrl ? { server: service.#address } : undefined;
    return service;
  }

  /** The issuer of its access tokens. */
  get issuer() {
    return `${this.origin}/api`;
  }

  /** The path of the set-up link, which the server prints while it has no account. */
  get setUpPath() {
    const link = this.output.map((line) => /\S+\/setup\?token=\S+/.exec(line)?.[0]).find(Boolean);
    return link.slice(this.origin.length);
  }

  async stop() {
    const server = this.#server;
    if (server.exitCode === null && server.signalCode === null) {
      server.kill('SIGTERM');
      await once(server, 'exit');
    }
    await rm(this.#dataDir, { recursive: true, force: true });
  }

  /** Creates an account. Each name can be used once. */
  async person(name) {
    const email = `${name}@example.org`;
    await this.run(['account', 'create', email, '--plan', 'paid', '--password-stdin'], `${PASSWORD}\n`);
    return { email, password: PASSWORD };
  }

  /** The first account, with a new password. */
  async firstPerson() {
    const email = /\S+@\S+/.exec(await this.run(['account', 'list']))[0];
    await this.run(['account', 'set-password', email, '--password-stdin'], `${PASSWORD}\n`);
    return { email, password: PASSWORD };
  }

  /** Runs a server command on the same data folder and returns its output. */
  async run(words, input = '') {
    const command = this.#spawn(words, 'pipe');
    const texts = { stdout: '', stderr: '' };
    for (const name of ['stdout', 'stderr']) {
      command[name].setEncoding('utf8').on('data', (text) => (texts[name] += text));
    }
    // A command that exits at once closes its input, so writing fails. Only its exit status says whether it succeeded.
    command.stdin.on('error', () => {});
    command.stdin.end(input);
    const [code] = await once(command, 'close');
    if (code !== 0) throw new Error(`server ${words.join(' ')} exited with ${code}: ${texts.stderr}`);
    return texts.stdout;
  }

  /** Sends a request without cookies and without following redirects. */
  fetch(path, options = {}) {
    return fetch(`${this.#address}${path}`, { redirect: 'manual', ...options });
  }

  #spawn(words, stdin) {
    const program = process.env.SERVER_PROGRAM;
    if (!program) throw new Error('SERVER_PROGRAM must be the path of the server program');
    const options = { env: environment, stdio: [stdin, 'pipe', 'pipe'] };
    return spawn(program, [...words, '--data-dir', this.#dataDir], options);
  }

  #listening() {
    this.#server.stderr.setEncoding('utf8').on('data', (text) => (this.#log += text));
    const lines = createInterface({ input: this.#server.stdout });
    return new Promise((resolve, reject) => {
      const failed = (why) => reject(new Error(`the server ${why}; its log:\n${this.#log}`));
      const timer = setTimeout(failed, START_TIMEOUT_MS, 'was not ready in time');
      this.#server.on('error', (error) => failed(`cannot be started: ${error.message}`));
      this.#server.on('exit', (code) => failed(`exited with ${code}`));
      lines.on('line', (line) => {
        this.output.push(line);
        const [, origin] = /^listening on (\S+)/.exec(line) ?? [];
        if (!origin) return;
        clearTimeout(timer);
        resolve(origin);
      });
    });
  }
}
