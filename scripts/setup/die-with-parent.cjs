// Loaded into npm ahead of its own code. An npm that outlives the set-up that started it would go on writing to the shared
// cache of npm while the next set-up reads from it. The pipe at descriptor 3 closes with the parent.
const { Socket } = require('node:net');

// Processes that npm starts inherit the variables but not the pipe.
if (process.ppid === Number(process.env.SKILLCELL_SETUP_PID)) {
  const pipe = new Socket({ fd: 3, readable: true, writable: false });
  pipe.on('close', () => process.exit(1));
  // A pipe that breaks closes too, which is handled above.
  pipe.on('error', () => undefined);
  pipe.resume();
  pipe.unref();
}
