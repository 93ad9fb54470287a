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
