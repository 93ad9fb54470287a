import { type ChildProcess, spawn } from 'node:child_process';
import type { ControlGroup } from './control-group.ts';
import { readdirSync, readFileSync } from 'node:fs';

const CLOSE_ON_EXEC = 0o2_000_000;
const FOLDER = '/proc/self/fdinfo';

/**
 * Runs before anything of the sandbox: enters the control groups while it may, sets the limits that are inherited, closes
 * what the host itself was handed, and becomes the command. Arguments: entrances, largest file in blocks of 512 bytes,
 * descriptors to close, then the command; lists are separated by blanks.
 */
const ENTER = `for entrance in $1; do echo 0 >"$entrance" || exit 71; done
ulimit -c 0; ulimit -n 1024; ulimit -f "$2"
for descriptor in $3; do eval "exec $descriptor>&-"; done
shift 3
exec "$@"`;

/** The channel's descriptor; those above it that a plain sh can name. */
const CHANNEL = 3;
const LAST_OF_SH = 9;

/** What the first process of a sandbox needs besides its command. */
export interface StartOptions {
  group: ControlGroup | null;
  /** Size of the largest file that any process of the sandbox may write. */
  fileBytes: number;
  env: Record<string, string>;
}

/** Starts the process that holds a sandbox, with a clean environment, the channel at descriptor 3, and no other above 2. */
export function startProcess(command: readonly string[], options: StartOptions): ChildProcess {
  return spawnFirst(firstWords(command, options), options.env);
}

/** The words of the first process: a shell that enters, limits and closes, and what it becomes. */
export function firstWords(command: readonly string[], { group, fileBytes }: Omit<StartOptions, 'env'>): string[] {
  const entrances = group?.entrances.join(' ') ?? '';
  const blocks = `${Math.ceil(fileBytes / 512)}`;
  const inherited = inheritedDescriptors().filter((descriptor) => descriptor > CHANNEL);
  // A plain sh starts faster, but cannot name descriptors of two digits. Only as POSIX wants it does bash count blocks of
  // 512 bytes; otherwise the limit would be twice as high.
  const shell = inherited.some((descriptor) => descriptor > LAST_OF_SH) ? ['/bin/bash', '--posix'] : ['/bin/sh'];
  return [...shell, '-c', ENTER, 'sh', entrances, blocks, inherited.join(' '), ...command];
}

/** Starts those words with the channel at descriptor 3. */
export function spawnFirst(
  [program = '/bin/sh', ...args]: readonly string[],
  env: Record<string, string>,
): ChildProcess {
  return spawn(program, args, { cwd: '/', env, stdio: ['ignore', 'ignore', 'pipe', 'pipe'], detached: true });
}

/**
 * Descriptors above the standard streams that a child of this process would inherit. Node marks its own as closed on
 * exec, so these were open when this process was started, by a shell or a service manager, and may lead anywhere.
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
    // Not Linux, and so without a level that isolates.
    return [];
  }
}

function isInherited(descriptor: number): boolean {
  try {
    const flags = /^flags:\s*([0-7]+)/m.exec(readFileSync(`${FOLDER}/${descriptor}`, 'latin1'))?.[1];
    return flags !== undefined && (Number.parseInt(flags, 8) & CLOSE_ON_EXEC) === 0;
  } catch {
    // The one that listed the folder is closed again.
    return false;
  }
}
