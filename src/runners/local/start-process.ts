import { spawn, type ChildProcess, type StdioOptions } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import type { ControlGroup } from './control-group.ts';
import { inheritedDescriptors } from './inherited-descriptors.ts';

/**
 * Runs before anything of the sandbox: enters the control groups while it may, sets the limits that are inherited, and
 * becomes the command. Arguments: entrances separated by blanks, largest file in blocks of 512 bytes, command.
 */
const ENTER = `for entrance in $1; do echo 0 >"$entrance" || exit 71; done
ulimit -c 0; ulimit -n 1024; ulimit -f "$2"
shift 2
exec 4<&- 5<&- 6<&- 7<&- 8<&- 9<&-
exec "$@"`;

/** Starts the process that holds a sandbox, with a clean environment and the channel at descriptor 3. */
export function startProcess(
  command: readonly string[],
  options: { group: ControlGroup | null; fileBytes: number; env: Record<string, string> },
): ChildProcess {
  const entrances = options.group?.entrances.join(' ') ?? '';
  const blocks = `${Math.ceil(options.fileBytes / 512)}`;
  const nothing = openSync('/dev/null', 'r');
  try {
    return spawn('/bin/sh', ['-c', ENTER, 'sh', entrances, blocks, ...command], {
      cwd: '/',
      env: options.env,
      stdio: descriptors(nothing),
      detached: true,
    });
  } finally {
    closeSync(nothing);
  }
}

/** The channel at 3, and nothing behind every descriptor that this process has inherited and would pass on. */
function descriptors(nothing: number): StdioOptions {
  const streams: Exclude<StdioOptions, string> = ['ignore', 'ignore', 'pipe', 'pipe'];
  for (const descriptor of inheritedDescriptors()) {
    while (streams.length <= descriptor) streams.push('ignore');
    if (descriptor > 3) streams[descriptor] = nothing;
  }
  return streams;
}
