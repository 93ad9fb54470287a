// A warning of the process (a leaked listener, a deprecation, an unclosed handle) fails the run, like an unhandled rejection.
process.on('warning', (warning) => {
  setImmediate(() => {
    throw new Error(`The process warned during this file: ${warning.name}: ${warning.message}`, { cause: warning });
  });
});
