// Runs the official MCP conformance suite against one server, once for each set of requirements, and prints a line for
// each scenario, what failed in it, and the sum as Rust's test programs write it.
//
//   node conformance/run.mjs URL EXPECTED RESULTS
//
// EXPECTED is the beginning of the names of the files of known failures; the checks are left in the folder RESULTS. With
// API_KEY in the environment a proxy adds it to every request.
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
/** One set takes less than half a minute. */
const TIME_LIMIT = 180_000;

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
  const tell = (name, { ok, counts, notes }) => {
    sum[!counts ? 'expected' : ok ? 'passed' : 'failed'] += 1;
    console.log(`test ${revision} ${name} ... ${!ok ? 'FAILED' : counts ? 'ok' : 'expected to fail'}`);
    for (const note of notes) console.log(`  ${note}`);
  };
  for (const name of scenarios) {
    tell(name, judge(checks.get(name) ?? [notRun(name, folder)], expected.get(name)));
    expected.delete(name);
  }
  for (const name of expected.keys()) tell(name, failed('It is not among the scenarios: take it out of the expected failures.'));
  // The suite's own verdict, and that it came to its end, must agree with what was read here.
  const ended = /^Total: \d+ passed, \d+ failed$/m.test(output);
  if (!ended || (code !== 0 && sum.failed === 0)) {
    tell('the suite as a whole', failed(`It ended with ${code}.\n${output.slice(-4000)}`));
  }
  console.log(`${revision}: ${sum.passed} passed, ${sum.failed} failed, ${sum.expected} expected to fail\n`);
  return sum;
}

/** A scenario that gave up leaves no checks. */
function notRun(name, folder) {
  return { id: name, name, status: 'FAILURE', errorMessage: `It could not be run; see ${join(folder, LOG)}.` };
}

function failed(note) {
  return { ok: false, counts: true, notes: [note] };
}

/** Runs the suite to its end, or until it takes too long. */
async function runSuite(revision, expectedFile, folder) {
  const options = ['server', '--url', server.href, '--requirements', revision];
  const child = spawn(process.execPath, [SUITE, ...options, '--expected-failures', expectedFile, '-o', folder], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, API_KEY: undefined, NO_COLOR: '1' },
    timeout: TIME_LIMIT,
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

/** The checks of each scenario, from the folder that it left behind. */
function readChecks(folder) {
  const checks = new Map();
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const [, name] = /^server-(.+?)-\d{4}-\d\d-\d\dT/.exec(entry.name) ?? [];
    const file = join(folder, entry.name, 'checks.json');
    if (name && existsSync(file)) checks.set(name, JSON.parse(readFileSync(file, 'utf8')));
  }
  return checks;
}
