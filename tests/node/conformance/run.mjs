// Runs the official MCP conformance suite against a server, once for each set of requirements. Prints a line for each
// scenario, its failures, and the sum in the form of Rust's test programs.
//
//   node conformance/run.mjs URL EXPECTED RESULTS
//
// EXPECTED is the prefix of the files of expected failures. The suite writes its checks to the folder RESULTS. If API_KEY is
// set, a proxy adds it to every request.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { createWriteStream, existsSync, mkdirSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { judge, readExpected } from './expected.mjs';
import { startProxy } from './proxy.mjs';

const SUITE = fileURLToPath(import.meta.resolve('@modelcontextprotocol/conformance/dist/index.js'));
const LOG = 'suite.log';
const REVISIONS = ['2026-07-28', '2025-11-25'];
/** Ends a suite that hangs. One set takes less than half a minute on a quiet machine. */
const TIMEOUT_MS = 10 * 60_000;

const [url, expectedFiles, resultsFolder] = process.argv.slice(2);
assert.ok(resultsFolder, 'usage: run.mjs URL EXPECTED RESULTS');

const server = new URL(url);
const key = process.env.API_KEY;
const proxy = key ? await startProxy(Number(server.port), key) : null;
if (proxy) server.port = proxy.port;

const total = { passed: 0, failed: 0, expected: 0 };
try {
  for (const revision of REVISIONS) {
    const sum = await runSet(revision, `${expectedFiles}-${revision}.yml`, join(resultsFolder, revision));
    for (const kind of Object.keys(total)) total[kind] += sum[kind];
  }
} finally {
  proxy?.close();
}
const outcome = total.failed === 0 ? 'ok' : 'FAILED';
console.log(`\ntest result: ${outcome}. ${total.passed} passed; ${total.failed} failed; ${total.expected} ignored`);
process.exit(total.failed === 0 ? 0 : 1);

async function runSet(revision, expectedFile, folder) {
  const expected = readExpected(expectedFile);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const { code, output } = await runSuite(revision, expectedFile, folder);
  const scenarios = [...output.matchAll(/^=== Running scenario: (\S+) ===$/gm)].map(([, name]) => name);
  const checks = readChecks(folder);
  const sum = { passed: 0, failed: 0, expected: 0 };
  const report = (name, { ok, counts, notes }) => {
    sum[!counts ? 'expected' : ok ? 'passed' : 'failed'] += 1;
    console.log(`test ${revision} ${name} ... ${!ok ? 'FAILED' : counts ? 'ok' : 'expected to fail'}`);
    for (const note of notes) console.log(`  ${note}`);
  };
  for (const name of scenarios) {
    report(name, judge(checks.get(name) ?? [notRun(name, folder)], expected.get(name)));
    expected.delete(name);
  }
  for (const name of expected.keys()) report(name, failed('There is no such scenario. Remove it from the expected failures.'));
  // The suite must have finished, and its exit code must agree with the checks.
  const ended = /^Total: \d+ passed, \d+ failed$/m.test(output);
  if (!ended || (code !== 0 && sum.failed === 0)) {
    report('the suite as a whole', failed(`It exited with ${code}.\n${output.slice(-4000)}`));
  }
  console.log(`${revision}: ${sum.passed} passed, ${sum.failed} failed, ${sum.expected} expected to fail\n`);
  return sum;
}

/** The failure of a scenario that wrote no checks. */
function notRun(name, folder) {
  return { id: name, name, status: 'FAILURE', errorMessage: `It could not be run; see ${join(folder, LOG)}.` };
}

function failed(note) {
  return { ok: false, counts: true, notes: [note] };
}

/** Runs the suite until it exits or times out. */
async function runSuite(revision, expectedFile, folder) {
  const options = ['server', '--url', server.href, '--requirements', revision];
  const child = spawn(process.execPath, [SUITE, ...options, '--expected-failures', expectedFile, '-o', folder], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, API_KEY: undefined, NO_COLOR: '1' },
    timeout: TIMEOUT_MS,
    killSignal: 'SIGKILL',
  });
  const log = createWriteStream(join(folder, LOG));
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8');
    stream.on('data', (text) => {
      output += text;
      log.write(text);
    });
  }
  const code = await new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (status, signal) => resolve(status ?? signal));
  });
  log.end();
  return { code, output };
}

/** Reads the checks of each scenario from its folder. */
function readChecks(folder) {
  const checks = new Map();
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const [, name] = /^server-(.+?)-\d{4}-\d\d-\d\dT/.exec(entry.name) ?? [];
    const file = join(folder, entry.name, 'checks.json');
    if (name && existsSync(file)) checks.set(name, JSON.parse(readFileSync(file, 'utf8')));
  }
  return checks;
}
