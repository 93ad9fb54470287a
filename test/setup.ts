import { beforeEach } from 'vitest';

// A warning of the process (a leaked listener, a deprecation, an unclosed handle) fails the run, like an unhandled rejection.
const WATCHED = Symbol.for('skillcell.tests.warnings');

// Files that share a process share its listener.
if (!(WATCHED in process)) {
  Object.defineProperty(process, WATCHED, { value: true });
  process.on('warning', (warning) => {
    setImmediate(() => {
      throw new Error(`The process warned during this file: ${warning.name}: ${warning.message}`, { cause: warning });
    });
  });
}

/** The last second, since 1970, in which a test may start. CI sets it for tests that a slow machine does not finish. */
const until = Number(process.env['SKILLCELL_TESTS_UNTIL'] ?? Infinity);
if (!(until > 0)) throw new Error('Cannot run tests: SKILLCELL_TESTS_UNTIL is not a number of seconds.');

beforeEach((context) => {
  if (Date.now() / 1_000 > until) context.skip('the time for tests is over');
});
