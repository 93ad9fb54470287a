import { fstatSync } from 'node:fs';
import { Socket } from 'node:net';

const LAUNCHER_FD = 'SKILLCELL_LAUNCHER_FD';
/** A shutdown that takes longer than this after the launcher died is stuck. */
const STUCK_AFTER_MS = 10_000;

/**
 * Ends this process when its launcher dies. The launcher (`bin/start-node.js`) holds a pipe open that closes with it, even
 * when it is killed. Then this process shuts down as for a SIGTERM. Without a launcher it does nothing.
 *
 * @param environment holds the number of the pipe's descriptor; the variable is removed
 */
export function watchLauncher(environment: NodeJS.ProcessEnv = process.env): void {
  const descriptor = Number(environment[LAUNCHER_FD]);
  delete environment[LAUNCHER_FD];
  if (!Number.isInteger(descriptor) || descriptor < 3 || !isPipe(descriptor)) return;
  const pipe = new Socket({ fd: descriptor, readable: true, writable: false });
  pipe.once('close', () => {
    setTimeout(() => process.kill(process.pid, 'SIGKILL'), STUCK_AFTER_MS).unref();
    process.kill(process.pid, 'SIGTERM');
  });
  // A pipe that breaks closes too, which is handled above.
  pipe.on('error', () => undefined);
  pipe.resume();
  pipe.unref();
}

/** Whether the descriptor can be the pipe of a launcher: the variable may be inherited from a process that is not our parent. */
function isPipe(descriptor: number): boolean {
  try {
    const state = fstatSync(descriptor);
    return state.isSocket() || state.isFIFO();
  } catch {
    // EBADF: the descriptor is not open.
    return false;
  }
}
