import { spawnSync } from 'node:child_process';
import { chmodSync, closeSync, constants, mkdtempSync, openSync, rmSync } from 'node:fs';
import { Socket } from 'node:net';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import type { Privileges } from '../sandbox/privileges.ts';
import type { SandboxLayout } from '../sandbox/sandbox-layout.ts';

/** The pipes that one program writes to. Its ends wait when they are full, as at a shell; ours do not, and share nothing with them. */
export interface OutputPipes {
  stdout: Readable;
  stderr: Readable;
  /** The program's ends of stdout and stderr: descriptors. */
  ends: [number, number];
  /** Closes the program's ends in this process. */
  handOver(): void;
}

/** The program may open `/dev/stdout` and `/dev/stderr` anew, as at a shell, but not read what it wrote. */
const MODE = 0o622;

/**
 * Makes the pipes of one program, in the folder of skills, which user code cannot write to. Node has no call for it, and
 * what `spawn` makes are sockets: full after a few hundred small pieces, and no program can open `/dev/stdout` on one. The
 * names of the fifos are gone when this returns.
 */
export function createOutputPipes({ level, skills }: SandboxLayout, privileges: Privileges): OutputPipes {
  const place = mkdtempSync(join(skills, '.pipes-'));
  const paths = [join(place, 'stdout'), join(place, 'stderr')] as const;
  try {
    makeFifos(paths, level, privileges);
    for (const path of paths) chmodSync(path, MODE);
    const [stdout, stderr] = [openReader(paths[0]), openReader(paths[1])];
    // A writer waits for a reader, which is there.
    const ends: OutputPipes['ends'] = [openSync(paths[0], constants.O_WRONLY), openSync(paths[1], constants.O_WRONLY)];
    return { stdout, stderr, ends, handOver: () => ends.forEach((descriptor) => closeSync(descriptor)) };
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
}

/**
 * Makes fifos with the id that this process has in effect, for good: not every kernel gives a new program the effective one.
 *
 * @throws Error, whose cause is the system's where no process could be started
 */
export function makeFifos(paths: readonly string[], level: SandboxLayout['level'], privileges: Privileges): void {
  const [uid, gid] = [process.geteuid?.(), process.getegid?.()];
  const account = level === 'container' && uid !== undefined && gid !== undefined ? { uid, gid } : {};
  const made = privileges.asRoot(() => spawnSync('mkfifo', paths, { encoding: 'utf8', ...account }));
  if (made.status === 0) return;
  const reason = made.error?.message ?? made.stderr.trim();
  throw new Error(`Cannot make the pipes of a program: mkfifo failed, got ${reason}.`, { cause: made.error });
}

/** Our end of a fifo that a program writes to. */
export function openReader(path: string): Readable {
  const fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  return new Socket({ fd, readable: true, writable: false });
}

/** Our end of a fifo that a program reads; someone holds it open for reading. */
export function openWriter(path: string): Writable {
  const fd = openSync(path, constants.O_WRONLY | constants.O_NONBLOCK);
  return new Socket({ fd, readable: false, writable: true });
}
