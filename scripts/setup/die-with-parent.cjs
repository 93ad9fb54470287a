// Loaded into npm ahead of its own code. An npm that outlives the set-up that started it would go on writing to the shared
// cache of npm while the next set-up reads from it. The pipe at descriptor 3 closes with the parent.
const { Socket } = require('node:net');

const setup = Number(process.env.SKILLCELL_SETUP_PID);

/** Whether the set-up is over, of which this process knows the number only. */
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
  // A pipe that breaks closes too, which is handled above.
  pipe.on('error', () => undefined);
  pipe.resume();
  pipe.unref();
} else if (isOver()) {
  // The set-up ended before this process had its own code.
  process.exit(1);
}
