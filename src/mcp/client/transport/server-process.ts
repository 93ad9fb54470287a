import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { withinDeadline } from '../../../protocol/within-deadline.ts';
import type { McpProgram } from '../mcp-servers.ts';

/**
 * Leaves a watcher in the process group of the server, and becomes the server. The watcher waits for the end of the pipe at descriptor 3, which
 * this process holds and never writes to. When this process ends, in any way, the watcher kills the whole group. The watcher ignores signals that
 * ask the group to end.
 */
const WATCHED = `(trap '' HUP INT TERM; read -r _ <&3; kill -KILL 0) </dev/null >/dev/null 2>&1 &
exec "$@" 3<&-`;

/** Variables of this process that a server inherits: those that programs need to start, and no key. */
const PASSED = ['HOME', 'LANG', 'LOGNAME', 'PATH', 'SHELL', 'TERM', 'TMPDIR', 'USER'];

/** How long a server may take to end after the end of its input, and again after a signal. */
const GRACE_MS = 1_000;
/** Time for the last output of a server to arrive, unless a process that left the group holds the pipe. */
const DRAIN_MS = 500;
/** Characters of its standard error that are kept. */
const LAST_WORDS = 2_000;

/** A server that runs. */
export interface ServerProcess {
  readonly stdin: Socket;
  readonly stdout: Socket;
  /** Settles once the server has ended and its output has arrived, with the way it ended. */
  readonly ended: Promise<string>;
  /** Makes the server keep this process alive, until `unref`. */
  ref(): void;
  unref(): void;
  /** Ends it: its input first, then signals to its process group. */
  stop(): Promise<void>;
  /** Ends it and its process group at once. */
  kill(): void;
}

/** Starts a server in a process group of its own, which ends with this process, even if this process is killed. */
export async function startServerProcess({ command, args = [], env, cwd }: McpProgram): Promise<ServerProcess> {
  const child = spawn('/bin/sh', ['-c', WATCHED, 'sh', command, ...args], {
    stdio: ['pipe', 'pipe', 'pipe', 'pipe'],
    env: { ...passedEnvironment(), ...env },
    detached: true,
    ...(cwd === undefined ? {} : { cwd }),
  });
  await once(child, 'spawn');
  // Pipes of a child are sockets.
  const [stdin, stdout, stderr, life] = child.stdio as unknown as [Socket, Socket, Socket, Socket];
  // Unread input and a lost watcher show in the way the server ends.
  for (const pipe of [stdin, life]) pipe.on('error', () => undefined);
  let words = '';
  stderr.setEncoding('utf8').on('data', (piece: string) => {
    words = (words + piece).slice(-LAST_WORDS);
  });
  const ended = endOf(child, life, () => lastLine(words));
  const handles = [child, stdin, stdout, stderr, life];
  const signal = (name: NodeJS.Signals): void => signalGroup(child, name);
  return {
    stdin,
    stdout,
    ended,
    ref: () => handles.forEach((handle) => handle.ref()),
    unref: () => handles.forEach((handle) => handle.unref()),
    kill: () => signal('SIGKILL'),
    async stop() {
      stdin.end();
      for (const name of ['SIGTERM', 'SIGKILL'] as const) {
        const hasEnded = ended.then(() => true);
        if (await withinDeadline<boolean>(hasEnded, { limitMs: GRACE_MS, overdue: () => false })) return;
        signal(name);
      }
      await ended;
    },
  };
}

function passedEnvironment(): Record<string, string> {
  return Object.fromEntries(
    PASSED.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]])),
  );
}

async function endOf(child: ChildProcess, life: Socket, lastWords: () => string): Promise<string> {
  const closed = once(child, 'close');
  const [code, signal] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null];
  // The rest of its group ends here.
  life.destroy();
  await withinDeadline<unknown>(closed, { limitMs: DRAIN_MS, overdue: () => undefined });
  if (signal !== null) return `ended by ${signal}`;
  if (code === 127) return 'has a command that was not found';
  return code === 126 ? 'has a command that cannot be executed' : `ended with exit code ${code}${lastWords()}`;
}

/** The last line of a server mostly says why it ended. */
function lastLine(words: string): string {
  const line = words.trim().split('\n').at(-1)?.trim() ?? '';
  return line === '' ? '' : `, and last wrote: ${line}`;
}

/** The number of the group stays taken while its watcher lives, which is until the end of the child was seen. */
function signalGroup({ pid, exitCode, signalCode }: ChildProcess, name: NodeJS.Signals): void {
  if (pid === undefined || exitCode !== null || signalCode !== null) return;
  try {
    process.kill(-pid, name);
  } catch (error) {
    // The group has ended meanwhile, as intended.
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
