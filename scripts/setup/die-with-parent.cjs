// Preloaded into npm. An npm that outlives its set-up would keep writing to npm's shared cache while the next set-up reads from it. The pipe at
// descriptor 3 closes with the parent.
const { Socket } = require('node:net');

const setup = Number(process.env.SKILLCELL_SETUP_PID);

/** Whether the set-up is over; this process knows only its process id. */
function isOver() {
  try {
    process.kill(setup, 0);
    return false;
  } catch (error) {
    return error.code === 'ESRCH';
  }
}

// Processes that npm starts inherit the variables but not the pipe.
if (process.ppid === setup) {
  const pipe = new Socket({ fd: 3, readable: true, writable: false });
  pipe.on('close', () => process.exit(1));
  // A broken pipe also closes, which is handled above.
  pipe.on('error', () => undefined);
  pipe.resume();
  pipe.unref();
} else if (isOver()) {
  // The set-up ended before this process ran its own code.
  process.exit(1);
}
