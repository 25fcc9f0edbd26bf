// Expected failures, and the verdict on each scenario.
//
// A file of expected failures has the format of the suite's `--expected-failures`, and is read more strictly here: every
// entry must have a reason and must be needed, also for scenarios that the suite runs without scoring them.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';

const ENTRY = /^ {2}- ([^\s:]+)(?::(\S+))? +# (.+)$/;
const BAD = new Set(['FAILURE', 'WARNING']);

/** Entries by scenario: the reason for the whole scenario, or the reasons for single checks. */
export function readExpected(file) {
  const expected = new Map();
  for (const line of readFileSync(file, 'utf8').split('\n')) {
    if (line === '' || line === 'server:' || line.trimStart().startsWith('#')) continue;
    const [, scenario, check, reason] = ENTRY.exec(line) ?? assert.fail(`${file}: not an entry with a reason: ${line}`);
    const entry = expected.get(scenario) ?? { checks: new Map() };
    assert.ok(!entry.reason && !entry.checks.has(check ?? ''), `${file}: ${scenario} is listed twice`);
    if (check) entry.checks.set(check, reason);
    else entry.reason = reason;
    assert.ok(!(entry.reason && entry.checks.size > 0), `${file}: ${scenario} is also listed as a whole`);
    expected.set(scenario, entry);
  }
  return expected;
}

/** This check succeeds for any response, so it does not count as a success of its scenario. */
const WIRE = 'wire-schema-valid';

/**
 * The verdict on a scenario: whether it is as expected, whether it counts as a test, and notes.
 *
 * A scenario is as expected if exactly the expected checks fail, or, if it is listed as a whole, if it does not pass. It
 * counts if any check other than the schema check succeeded.
 */
export function judge(checks, entry) {
  const worst = worstById(checks);
  const bad = [...worst.values()].filter(({ status }) => BAD.has(status));
  const succeeded = [...worst.values()].some(({ id, status }) => status === 'SUCCESS' && id !== WIRE);
  if (entry?.reason) {
    if (bad.length === 0 && succeeded) return failed(['It passes now. Remove it from the expected failures.']);
    return { ok: true, counts: false, notes: [entry.reason] };
  }
  const known = entry?.checks ?? new Map();
  const notes = bad.filter(({ id }) => !known.has(id)).map(describe);
  for (const id of known.keys()) {
    const status = worst.get(id)?.status ?? 'missing';
    if (!BAD.has(status)) notes.push(`${id}: ${status} now. Remove it from the expected failures.`);
  }
  if (!succeeded && known.size === 0 && notes.length === 0) notes.push('Nothing was checked.');
  if (notes.length > 0) return failed(notes);
  return { ok: true, counts: succeeded, notes: [...known].map(([id, reason]) => `${id} is expected to fail: ${reason}`) };
}

const failed = (notes) => ({ ok: false, counts: true, notes });

/** The worst check for each id. */
function worstById(checks) {
  const rank = ({ status }) => ['FAILURE', 'WARNING', 'SUCCESS'].indexOf(status);
  const worst = new Map();
  for (const check of checks) {
    const other = worst.get(check.id);
    if (rank(check) >= 0 && (!other || rank(check) < rank(other))) worst.set(check.id, check);
  }
  return worst;
}

function describe({ id, status, name, errorMessage, details }) {
  const seen = JSON.stringify(details ?? {});
  const shown = seen.length > 2000 ? `${seen.slice(0, 2000)}…` : seen;
  return `${status} ${id} (${name}): ${errorMessage ?? 'no message'}\n    ${shown}`;
}
