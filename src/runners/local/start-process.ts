import { spawn, type ChildProcess } from 'node:child_process';
import type { ControlGroup } from './control-group.ts';
import { inheritedDescriptors } from './inherited-descriptors.ts';

/**
 * Runs before anything of the sandbox: enters the control groups while it may, closes what this process was handed by
 * its own parent, sets the limits that are inherited, and becomes the command. Arguments: entrances, largest file in
 * blocks of 512 bytes, descriptors to close, command; lists are separated by blanks.
 */
const ENTER = `for entrance in $1; do echo $$ >"$entrance" || exit 71; done
for descriptor in $3; do eval "exec $descriptor>&-"; done
ulimit -c 0; ulimit -n 1024; ulimit -f "$2"
shift 3
exec "$@"`;

/** Starts the process that holds a sandbox, with a clean environment and the channel at descriptor 3. */
export function startProcess(
  command: readonly string[],
  options: { group: ControlGroup | null; fileBytes: number; env: Record<string, string> },
): ChildProcess {
  const entrances = options.group?.entrances.join(' ') ?? '';
  const blocks = `${Math.ceil(options.fileBytes / 512)}`;
  const inherited = inheritedDescriptors();
  // A plain sh starts faster, and cannot name descriptors above 9.
  const shell = inherited.length > 0 ? '/bin/bash' : '/bin/sh';
  return spawn(shell, ['-c', ENTER, 'sh', entrances, blocks, inherited.join(' '), ...command], {
    cwd: '/',
    env: options.env,
    stdio: ['ignore', 'ignore', 'pipe', 'pipe'],
    detached: true,
  });
}
