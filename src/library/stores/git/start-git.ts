import { type ChildProcess, spawn } from 'node:child_process';
import type { Socket } from 'node:net';
import { MEMORY_BYTES } from './git-limits.ts';

/**
 * Sets limits for written files and memory, starts a watcher in the process group, and runs git. The watcher waits for the end of the pipe at
 * descriptor 3, which this process holds. When this process ends, in any way, the watcher kills the group. It is reaped with git.
 */
const WATCHED = `ulimit -c 0; ulimit -f "$1"; ulimit -v "$2"; shift 2
(trap '' HUP INT TERM; read -r _ <&3; kill -KILL 0) </dev/null >/dev/null 2>&1 &
watcher=$!
"$@" 3<&-
status=$?
kill -KILL "$watcher"; wait "$watcher" 2>/dev/null
exit "$status"`;

/** A running git command, in a process group of its own. */
export interface GitProcess {
  readonly stdin: Socket;
  readonly stdout: Socket;
  readonly stderr: Socket;
  /** Settles once every process of it has ended, with its exit code; null where it was killed. */
  readonly ended: Promise<number | null>;
  /** Sets whether this process stays alive for it. */
  hold(isHeld: boolean): void;
  /** Kills git and its child processes. */
  kill(): void;
}

/**
 * Starts a git command.
 *
 * @param program absolute path of git
 * @param fileBytes limit of the largest file that it may write
 */
export function startGit(
  program: string,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  fileBytes: number,
): GitProcess {
  const limits = [`${Math.ceil(fileBytes / 512)}`, `${MEMORY_BYTES / 1024}`];
  const child: ChildProcess = spawn('/bin/sh', ['-c', WATCHED, 'sh', ...limits, program, ...args], {
    cwd: '/',
    env,
    stdio: ['pipe', 'pipe', 'pipe', 'pipe'],
    detached: true,
  });
  // Pipes of a child are sockets.
  const [stdin, stdout, stderr, life] = child.stdio as unknown as [Socket, Socket, Socket, Socket];
  // Write errors are ignored: the exit code shows the failure.
  for (const pipe of [stdin, life]) pipe.on('error', () => undefined);
  let hasExited = false;
  const kill = (): void => {
    if (child.pid === undefined || hasExited) return;
    try {
      process.kill(-child.pid, 'SIGKILL');
    } catch {
      // Its last process has ended meanwhile.
    }
  };
  child.once('exit', () => {
    hasExited = true;
    life.destroy();
  });
  return {
    stdin,
    stdout,
    stderr,
    ended: new Promise((resolve, reject) => {
      child.once('error', reject);
      child.once('close', resolve);
    }),
    hold(isHeld) {
      for (const handle of [child, stdin, stdout, stderr, life]) {
        if (isHeld) handle.ref();
        else handle.unref();
      }
    },
    kill,
  };
}
