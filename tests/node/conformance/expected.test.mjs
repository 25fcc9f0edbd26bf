import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { judge, readExpected } from './expected.mjs';

const check = (id, status) => ({ id, name: id, status, errorMessage: 'why' });
const whole = { reason: 'no prompts', checks: new Map() };
const only = (...ids) => ({ checks: new Map(ids.map((id) => [id, 'no prompts'])) });

test('a scenario is judged by its checks and its expected failures', () => {
  for (const [checks, entry, ok, counts] of [
    [[check('a', 'SUCCESS')], undefined, true, true],
    [[check('a', 'SUCCESS'), check('b', 'INFO'), check('c', 'SKIPPED')], undefined, true, true],
    [[check('a', 'SUCCESS'), check('b', 'FAILURE')], undefined, false, true],
    [[check('a', 'SUCCESS'), check('b', 'WARNING')], undefined, false, true],
    // If an id occurs several times, its worst result counts.
    [[check('a', 'FAILURE'), check('a', 'SUCCESS')], undefined, false, true],
    // No check has succeeded, or only the schema check.
    [[], undefined, false, true],
    [[check('a', 'SKIPPED')], undefined, false, true],
    [[check('wire-schema-valid', 'SUCCESS')], undefined, false, true],
    // The whole scenario is listed as an expected failure.
    [[check('a', 'FAILURE')], whole, true, false],
    [[check('a', 'SKIPPED')], whole, true, false],
    [[check('a', 'SUCCESS')], whole, false, true],
    // Single checks of the scenario are listed.
    [[check('a', 'FAILURE')], only('a'), true, false],
    [[check('a', 'FAILURE'), check('wire-schema-valid', 'SUCCESS')], only('a'), true, false],
    [[check('a', 'FAILURE'), check('wire-schema-valid', 'FAILURE')], only('a'), false, true],
    [[check('a', 'FAILURE'), check('b', 'SUCCESS')], only('a'), true, true],
    [[check('a', 'FAILURE'), check('b', 'WARNING')], only('a'), false, true],
    [[check('a', 'SUCCESS'), check('b', 'SUCCESS')], only('a'), false, true],
    [[check('a', 'SKIPPED'), check('b', 'SUCCESS')], only('a'), false, true],
    [[check('b', 'SUCCESS')], only('a'), false, true],
  ]) {
    const verdict = judge(checks, entry);
    assert.deepEqual([verdict.ok, verdict.counts], [ok, counts], JSON.stringify([checks, entry]));
    assert.ok(verdict.ok || verdict.notes.length > 0);
  }
});

test('an entry has a scenario or one of its checks, and a reason', (context) => {
  const folder = mkdtempSync(join(tmpdir(), 'expected-'));
  context.after(() => rmSync(folder, { recursive: true }));
  const read = (text) => {
    const file = join(folder, 'file.yml');
    writeFileSync(file, text);
    return readExpected(file);
  };
  const good = read('# all\nserver:\n\n  # some\n  - a # why\n  - b:b-1 # because: x\n  - b:b-2 # too\n');
  assert.deepEqual([...good.keys()], ['a', 'b']);
  assert.equal(good.get('a').reason, 'why');
  assert.deepEqual([...good.get('b').checks], [['b-1', 'because: x'], ['b-2', 'too']]);
  for (const bad of ['  - a', '- a # why', '  - a: b # why', '  - a # why\n  - a # again', '  - a # why\n  - a:b # too', 'client:']) {
    assert.throws(() => read(`server:\n${bad}\n`), bad);
  }
});

test('the files of expected failures are valid', () => {
  const files = readdirSync(new URL('expected/', import.meta.url));
  assert.equal(files.length, 4);
  for (const file of files) assert.ok(readExpected(new URL(`expected/${file}`, import.meta.url)).size > 0, file);
});
