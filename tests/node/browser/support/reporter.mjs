// A test reporter: one line for each test, the reasons of failures, and the sum in the form of Rust's test programs.

import { inspect } from 'node:util';

export default async function* report(events) {
  let passed = 0;
  let failed = 0;
  for await (const { type, data } of events) {
    if (type === 'test:pass') {
      passed += 1;
      yield `test ${data.name} ... ok (${seconds(data)})\n`;
    } else if (type === 'test:fail') {
      failed += 1;
      const { error } = data.details;
      yield `test ${data.name} ... FAILED (${seconds(data)})\n${inspect(error.cause ?? error)}\n`;
    } else if (type === 'test:stderr' || type === 'test:stdout') {
      yield data.message;
    }
  }
  const outcome = failed === 0 ? 'ok' : 'FAILED';
  yield `\ntest result: ${outcome}. ${passed} passed; ${failed} failed\n`;
}

const seconds = ({ details }) => `${(details.duration_ms / 1000).toFixed(1)} s`;
