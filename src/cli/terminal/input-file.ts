import { closeSync, constants, fstatSync, openSync, readSync, statSync, type Stats } from 'node:fs';
import { resolve } from 'node:path';
import { SkillcellError } from '../../contracts/errors/skillcell-error.ts';
import type { CliIo } from './cli-io.ts';
import { quoted } from './usage-error.ts';

/** A regular file of the host that can be read. */
export interface InputFileCheck {
  /** Absolute path. */
  source: string;
  bytes: number;
}

/**
 * Checks that a path names a regular file that can be read, before anything waits on it or reads it.
 *
 * @param about the flag or operand, for messages
 * @throws SkillcellError `file.unreadable`
 */
export function checkInputFile(about: string, path: string, io: CliIo): InputFileCheck {
  return withFile(about, path, io, (_descriptor, source, { size }) => ({ source, bytes: size }));
}

/**
 * The same, but folders are allowed too: their files are checked when the job is accepted.
 *
 * @throws SkillcellError `file.unreadable`
 */
export function checkInput(about: string, path: string, io: CliIo): InputFileCheck {
  const source = resolve(io.cwd(), path);
  return path !== '' && isFolder(source) ? { source, bytes: 0 } : checkInputFile(about, path, io);
}

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    // The check of the file reports the fault.
    return false;
  }
}

/**
 * Reads a regular file.
 *
 * @param limit bytes; a larger file is refused before it is read
 * @throws SkillcellError `file.unreadable`
 */
export function readInputFile(about: string, path: string, limit: number, io: CliIo): Buffer {
  return withFile(about, path, io, (descriptor, _source, { size }) => readAll(about, path, limit, descriptor, size));
}

/** The same for a file with a secret: it must be of this user, and only its owner may read it. */
export function readSecretFile(about: string, path: string, limit: number, io: CliIo): Buffer {
  return withFile(about, path, io, (descriptor, _source, { size, mode, uid }) => {
    if (uid !== process.getuid?.())
      throw unreadable(about, `another user owns it; \`chown\` and \`chmod 600\` keep others out`, path);
    if ((mode & 0o077) !== 0) {
      const shown = (mode & 0o777).toString(8).padStart(3, '0');
      throw unreadable(about, `others may read it or write to it (mode ${shown}); \`chmod 600\` keeps them out`, path);
    }
    return readAll(about, path, limit, descriptor, size);
  });
}

function readAll(about: string, path: string, limit: number, descriptor: number, size: number): Buffer {
  if (size > limit) throw unreadable(about, `it may have ${limit} bytes, it has ${size}`, path);
  const bytes = Buffer.alloc(size);
  let length = 0;
  while (length < size) {
    const read = readSync(descriptor, bytes, length, size - length, null);
    if (read === 0) break;
    length += read;
  }
  return bytes.subarray(0, length);
}

/** An error about a file of the host. */
export function unreadable(about: string, reason: string, path: string, hint?: string): SkillcellError {
  const message = `Cannot read ${about}: ${reason}, got ${quoted(path)}.`;
  return new SkillcellError('file.unreadable', message, hint === undefined ? {} : { hint });
}

/** UTF-8 as text, verbatim. @throws SkillcellError `file.unreadable` */
export function decodeInput(about: string, bytes: Uint8Array, path: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (cause) {
    throw new SkillcellError('file.unreadable', `Cannot read ${about}: it is not UTF-8, got ${quoted(path)}.`, {
      cause,
    });
  }
}

function withFile<Result>(
  about: string,
  path: string,
  io: CliIo,
  use: (descriptor: number, source: string, stats: Stats) => Result,
): Result {
  if (path === '') throw unreadable(about, 'it needs the path of a file', path);
  const source = resolve(io.cwd(), path);
  let descriptor: number | undefined;
  try {
    // Opening a device can have effects, and opening a fifo blocks: both are refused by their kind before.
    assertRegular(about, path, statSync(source));
    descriptor = openSync(source, constants.O_RDONLY | constants.O_NONBLOCK);
    const stats = fstatSync(descriptor);
    assertRegular(about, path, stats);
    return use(descriptor, source, stats);
  } catch (error) {
    if (SkillcellError.isInstance(error)) throw error;
    throw unreadable(about, reasonOf(error as NodeJS.ErrnoException), path);
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

const KINDS = [
  ['isDirectory', 'a folder'],
  ['isFIFO', 'a fifo'],
  ['isCharacterDevice', 'a device'],
  ['isBlockDevice', 'a device'],
  ['isSocket', 'a socket'],
] as const;

function assertRegular(about: string, path: string, stats: Stats): void {
  if (stats.isFile()) return;
  const kind = KINDS.find(([method]) => stats[method]())?.[1] ?? 'something else';
  throw unreadable(about, `it must be a regular file and is ${kind}`, path);
}

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  ENOTDIR: 'there is no such file',
  EACCES: 'it may not be read by this user',
  EPERM: 'it may not be read by this user',
  ELOOP: 'it is a chain of links without an end',
  ENAMETOOLONG: 'the path is too long',
};

function reasonOf(error: NodeJS.ErrnoException): string {
  return REASONS[error.code ?? ''] ?? error.message;
}
