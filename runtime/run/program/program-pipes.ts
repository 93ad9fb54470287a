import { spawnSync } from 'node:child_process';
import { chmodSync, closeSync, constants, fchmodSync, mkdtempSync, openSync, rmSync } from 'node:fs';
import { Socket } from 'node:net';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import type { Privileges } from '../../sandbox/privileges.ts';
import type { SandboxLayout } from '../../sandbox/sandbox-layout.ts';

/** The pipes of one program. The program's ends block when a pipe is full, as at a shell; the supervisor's ends are separate and do not block. */
export interface ProgramPipes {
  stdin: Writable;
  stdout: Readable;
  stderr: Readable;
  messagesIn: Readable;
  messagesOut: Writable;
  /** The program's ends, as descriptors from 0 to 4: stdin, stdout, stderr, messages in, messages out. */
  ends: [number, number, number, number, number];
  /** Closes the program's ends in this process. */
  handOver(): void;
}

/** The program may reopen `/dev/stdout` and `/dev/stderr`, as at a shell, but not read its own output. */
const WRITTEN_BY_PROGRAM = 0o622;
const READ_BY_PROGRAM = 0o644;

/**
 * Creates the pipes of one program in the folder of skills, where user code cannot write. Node has no call for pipes, and `spawn` makes sockets: a
 * socket is full after a few hundred small chunks, and no program can reopen it, as `/dev/stdout` or under another number. The fifos have no names
 * any more when this function returns.
 */
export function createProgramPipes({ level, skills }: SandboxLayout, privileges: Privileges): ProgramPipes {
  const place = mkdtempSync(join(skills, '.pipes-'));
  const [stdout, stderr, incoming, outgoing] = [
    join(place, 'stdout'),
    join(place, 'stderr'),
    join(place, 'to-program'),
    join(place, 'from-program'),
  ] as const;
  try {
    // A program that reopens a fifo as `/dev/stdin` waits for a writer, which may have ended already. Opening a pipe without a name does not wait.
    const holder = Number(runShell(MAKE_PIPES, [stdout, stderr, incoming, outgoing], level, privileges));
    for (const path of [stdout, stderr, outgoing]) chmodSync(path, WRITTEN_BY_PROGRAM);
    chmodSync(incoming, READ_BY_PROGRAM);
    const stdin = openPipe(holder, constants.O_RDONLY);
    letProgramOpen(stdin);
    // Opening one end waits for the other end. This descriptor has both directions, until both ends are open.
    const both = openSync(incoming, constants.O_RDWR);
    const pipes = {
      stdin: socketOf(openPipe(holder, constants.O_WRONLY | constants.O_NONBLOCK)),
      stdout: openReader(stdout),
      stderr: openReader(stderr),
      messagesIn: openReader(outgoing),
      messagesOut: openWriter(incoming),
    };
    process.kill(holder, 'SIGKILL');
    const ends: ProgramPipes['ends'] = [
      stdin,
      openSync(stdout, constants.O_WRONLY),
      openSync(stderr, constants.O_WRONLY),
      openSync(incoming, constants.O_RDONLY),
      openSync(outgoing, constants.O_WRONLY),
    ];
    closeSync(both);
    return { ...pipes, ends, handOver: () => ends.forEach((descriptor) => closeSync(descriptor)) };
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
}

/** Lets the program reopen its stdin. gVisor refuses the change of mode for pipes; the program can still read the descriptor itself. */
function letProgramOpen(stdin: number): void {
  try {
    fchmodSync(stdin, READ_BY_PROGRAM);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') throw error;
  }
}

/** A shell makes a pipe without a name, which Node cannot do. The last command has the pipe as its stdin and waits until it is killed. */
const MAKE_PIPES = 'mkfifo "$@" || exit; : | sleep 60 >/dev/null 2>&1 & echo $!';

/**
 * Makes fifos.
 *
 * @throws Error with the system's error as its cause if no process could be started
 */
export function makeFifos(paths: readonly string[], level: SandboxLayout['level'], privileges: Privileges): void {
  runShell('mkfifo "$@"', paths, level, privileges);
}

/** Runs a shell with the effective id of this process as its real id: not every kernel starts a program with the effective id. */
function runShell(
  script: string,
  args: readonly string[],
  level: SandboxLayout['level'],
  privileges: Privileges,
): string {
  const [uid, gid] = [process.geteuid?.(), process.getegid?.()];
  const account = level === 'container' && uid !== undefined && gid !== undefined ? { uid, gid } : {};
  const made = privileges.asRoot(() =>
    spawnSync('/bin/sh', ['-c', script, 'sh', ...args], { encoding: 'utf8', ...account }),
  );
  if (made.status === 0) return made.stdout;
  const reason = made.error?.message ?? made.stderr.trim();
  const cause = made.error ?? forkError(reason);
  throw new Error(`Cannot make the pipes of a program: mkfifo failed, got ${reason}.`, { cause });
}

/** The system's error if the shell got the last free process, so that it could start no command. */
function forkError(reason: string): Error | undefined {
  return /\bfork\b/i.test(reason) ? Object.assign(new Error(reason), { code: 'EAGAIN' }) : undefined;
}

/** The supervisor's end of a fifo that a program writes. */
export function openReader(path: string): Readable {
  const fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  return new Socket({ fd, readable: true, writable: false });
}

/** The supervisor's end of a fifo that a program reads. A process must hold the fifo open for reading. */
export function openWriter(path: string): Writable {
  return socketOf(openSync(path, constants.O_WRONLY | constants.O_NONBLOCK));
}

/** Writes to a descriptor and never blocks. */
export function socketOf(fd: number): Writable {
  return new Socket({ fd, readable: false, writable: true });
}

/** Opens an end of the pipe that is the stdin of a process. */
function openPipe(pid: number, flags: number): number {
  return openSync(`/proc/${pid}/fd/0`, flags);
}
