import { spawn } from 'node:child_process';
import { constants } from 'node:os';

/** The environment of a child that is to end with its launcher: it says at which descriptor the pipe is. */
export const WATCHED = { SKILLCELL_LAUNCHER_FD: '3' };
/** @type {NodeJS.Signals[]} */
const FORWARDED = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT', 'SIGUSR2'];

/**
 * Starts another Node as if it were this process: same standard streams, signals passed on, same exit. The child gets a
 * pipe that nothing is written to: it ends when this process does, however that happens. Who adds {@link WATCHED} to the
 * environment makes the child watch it.
 *
 * @param {string} node path of the binary
 * @param {string[]} args
 * @param {NodeJS.ProcessEnv} [env]
 * @returns {Promise<number>} the exit code; a child that was ended by a signal ends this process by the same one
 */
export async function startNode(node, args, env = process.env) {
  const child = spawn(node, args, {
    stdio: ['inherit', 'inherit', 'inherit', 'pipe'],
    env,
  });
  /** @param {NodeJS.Signals} signal */
  const forward = (signal) => void child.kill(signal);
  for (const signal of FORWARDED) process.on(signal, forward);
  /** @type {[number | null, NodeJS.Signals | null]} */
  const [code, signal] = await new Promise((resolve, reject) => {
    child.once('error', reject).once('exit', (...ending) => resolve(ending));
  });
  for (const name of FORWARDED) process.off(name, forward);
  if (signal === null) return code ?? 1;
  process.kill(process.pid, signal);
  // A signal that this process cannot die of, or not at once, becomes the number that a shell would show.
  await new Promise((resolve) => setTimeout(resolve, 200));
  return 128 + constants.signals[signal];
}
