import { type ChildProcess, spawn } from 'node:child_process';
import type { ControlGroup } from './control-group.ts';
import { readdirSync, readFileSync } from 'node:fs';

const CLOSE_ON_EXEC = 0o2_000_000;
const FOLDER = '/proc/self/fdinfo';

/**
 * First program of a sandbox: enters the control groups while it still may, sets the inherited limits, closes the descriptors that
 * the host inherited, and becomes the command. Arguments: entrances, largest file in blocks of 512 bytes, descriptors to close, then
 * the command. Lists are separated by spaces.
 */
const ENTER = `for entrance in $1; do echo 0 >"$entrance" || exit 71; done
ulimit -c 0; ulimit -n 1024; ulimit -f "$2"
for descriptor in $3; do eval "exec $descriptor>&-"; done
shift 3
exec "$@"`;

/** The channel's descriptor, and the highest descriptor that a plain sh can name. */
const CHANNEL = 3;
const LAST_OF_SH = 9;

/** Options of the first process of a sandbox. */
export interface StartOptions {
  group: ControlGroup | null;
  /** Size of the largest file that any process of the sandbox may write. */
  fileBytes: number;
  env: Record<string, string>;
}

/** Starts the process of a sandbox with a clean environment, the channel at descriptor 3, and no other descriptor above 2. */
export function startProcess(command: readonly string[], options: StartOptions): ChildProcess {
  return spawnFirst(firstWords(command, options), options.env);
}

/** The command of the first process: the shell with {@link ENTER}, then the command that it becomes. */
export function firstWords(command: readonly string[], { group, fileBytes }: Omit<StartOptions, 'env'>): string[] {
  const entrances = group?.entrances.join(' ') ?? '';
  const blocks = `${Math.ceil(fileBytes / 512)}`;
  const inherited = inheritedDescriptors().filter((descriptor) => descriptor > CHANNEL);
  // A plain sh starts faster, but cannot name descriptors of two digits. Only in POSIX mode does bash count blocks of 512 bytes;
  // otherwise the limit would be twice as high.
  const shell = inherited.some((descriptor) => descriptor > LAST_OF_SH) ? ['/bin/bash', '--posix'] : ['/bin/sh'];
  return [...shell, '-c', ENTER, 'sh', entrances, blocks, inherited.join(' '), ...command];
}

/** Starts the first process with the channel at descriptor 3. */
export function spawnFirst(
  [program = '/bin/sh', ...args]: readonly string[],
  env: Record<string, string>,
): ChildProcess {
  return spawn(program, args, { cwd: '/', env, stdio: ['ignore', 'ignore', 'pipe', 'pipe'], detached: true });
}

/**
 * Descriptors above the standard streams that a child of this process would inherit. Node marks its own descriptors as close-on-exec,
 * so these come from the shell or service manager that started this process, and may lead anywhere.
 */
function inheritedDescriptors(): number[] {
  return namesIn(FOLDER)
    .map(Number)
    .filter((descriptor) => descriptor > 2 && isInherited(descriptor));
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    // Not Linux, so there is no isolating level.
    return [];
  }
}

function isInherited(descriptor: number): boolean {
  try {
    const flags = /^flags:\s*([0-7]+)/m.exec(readFileSync(`${FOLDER}/${descriptor}`, 'latin1'))?.[1];
    return flags !== undefined && (Number.parseInt(flags, 8) & CLOSE_ON_EXEC) === 0;
  } catch {
    // The descriptor of the listing itself is closed by now.
    return false;
  }
}
