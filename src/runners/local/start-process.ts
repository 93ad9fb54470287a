import { spawn, type ChildProcess } from 'node:child_process';
import type { ControlGroup } from './control-group.ts';

/**
 * Runs before anything of the sandbox: enters the control groups while it may, sets the limits that are inherited, and
 * becomes the command. Arguments: entrances separated by blanks, largest file in blocks of 512 bytes, command.
 */
const ENTER = `for entrance in $1; do echo $$ >"$entrance" || exit 71; done
ulimit -c 0; ulimit -n 1024; ulimit -f "$2"
shift 2
exec "$@"`;

/** Starts the process that holds a sandbox, with a clean environment and the channel at descriptor 3. */
export function startProcess(
  command: readonly string[],
  options: { group: ControlGroup | null; fileBytes: number; env: Record<string, string> },
): ChildProcess {
  const entrances = options.group?.entrances.join(' ') ?? '';
  const blocks = `${Math.ceil(options.fileBytes / 512)}`;
  return spawn('/bin/sh', ['-c', ENTER, 'sh', entrances, blocks, ...command], {
    cwd: '/',
    env: options.env,
    stdio: ['ignore', 'ignore', 'pipe', 'pipe'],
    detached: true,
  });
}
