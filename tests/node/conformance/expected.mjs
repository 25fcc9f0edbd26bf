// What is known not to pass, and the verdict on what came out.
//
// A file of known failures is what the suite's `--expected-failures` reads. Here it is read more strictly: every entry
// has a reason, and every entry must be needed, also those about scenarios that the suite runs but does not score.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';

const ENTRY = /^ {2}- ([^\s:]+)(?::(\S+))? +# (.+)$/;
const BAD = new Set(['FAILURE', 'WARNING']);

/** Entries by scenario: the reason for a whole one, and the reasons for single checks. */
export function readExpected(file) {
  const expected = new Map();
  for (const line of readFileSync(file, 'utf8').split('\n')) {
    if (line === '' || line === 'server:' || line.trimStart().startsWith('#')) continue;
    const [, scenario, check, reason] = ENTRY.exec(line) ?? assert.fail(`${file}: not an entry with a reason: ${line}`);
    const entry = expected.get(scenario) ?? { checks: new Map() };
    assert.ok(!entry.reason && !entry.checks.has(check ?? ''), `${file}: ${scenario} is there twice`);
    if (check) entry.checks.set(check, reason);
    else entry.reason = reason;
    assert.ok(!(entry.reason && entry.checks.size > 0), `${file}: ${scenario} is there as a whole, too`);
    expected.set(scenario, entry);
  }
  return expected;
}

/** Succeeds whenever anything was answered, so a scenario is not passed by it. */
const WIRE = 'wire-schema-valid';

/**
 * The verdict on one scenario: whether it is as it must be, whether it counts as a test, and what to say of it.
 *
 * A scenario is as it must be when exactly those of its checks fail that are expected to; one that is expected to fail as
 * a whole must not pass. It counts when anything in it succeeded but the form of the answers.
 */
export function judge(checks, entry) {
  const worst = worstById(checks);
  const bad = [...worst.values()].filter(({ status }) => BAD.has(status));
  const succeeded = [...worst.values()].some(({ id, status }) => status === 'SUCCESS' && id !== WIRE);
  if (entry?.reason) {
    if (bad.length === 0 && succeeded) return failed(['It passes now: take it out of the expected failures.']);
    return { ok: true, counts: false, notes: [entry.reason] };
  }
  const known = entry?.checks ?? new Map();
  const notes = bad.filter(({ id }) => !known.has(id)).map(describe);
  for (const id of known.keys()) {
    const status = worst.get(id)?.status ?? 'not made';
    if (!BAD.has(status)) notes.push(`${id}: ${status} now: take it out of the expected failures.`);
  }
  if (!succeeded && known.size === 0 && notes.length === 0) notes.push('Nothing was checked.');
  if (notes.length > 0) return failed(notes);
  return { ok: true, counts: succeeded, notes: [...known].map(([id, reason]) => `${id} is expected to fail: ${reason}`) };
}

const failed = (notes) => ({ ok: false, counts: true, notes });

/** The worst of the checks that have the same id. */
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
