/**
 * Reads and writes the workspace of a session, as a process with the rights and in the namespaces of user code. No link is followed: each folder of a
 * path is opened relative to its parent.
 */
import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readSync,
  rmSync,
  unlinkSync,
  writeSync,
} from 'node:fs';
import { ROWS_BYTES } from '../../../src/protocol/messages/session-messages.ts';
import { listRows } from './list-rows.ts';
import { connectSupervisor } from './supervisor-link.ts';

interface FileMessage {
  type: 'file';
  id: number;
  op: 'read' | 'write' | 'list' | 'delete' | 'export';
  path: string;
  /** Most bytes to send. */
  maxBytes: number;
  /** The workspace. */
  folder: string;
}

type Message = FileMessage | { type: 'file-end'; id: number };

/** A refusal, with the reason in words for the caller. */
class Refused extends Error {}

const { O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_WRONLY, O_CREAT, O_TRUNC } = constants;
const PIECE_BYTES = 256 * 1024;

/** Files that are being written: their bytes arrive in pieces. */
const written = new Map<number, { message: FileMessage; pieces: Buffer[] }>();

const link = connectSupervisor(
  { incoming: 3, outgoing: 4, isOpen: () => true },
  {
    message: (message) => take(message as Message),
    answer: () => undefined,
    bytes: (id, bytes) => void written.get(id)?.pieces.push(Buffer.from(bytes)),
    // The supervisor has closed the link, so no caller is left.
    closed: () => process.exit(70),
  },
);

function take(message: Message): void {
  if (message.type === 'file' && message.op === 'write') return void written.set(message.id, { message, pieces: [] });
  const whole = message.type === 'file' ? { message, pieces: [] } : written.get(message.id);
  written.delete(message.id);
  if (whole !== undefined) answer(whole.message, whole.pieces);
}

function answer(message: FileMessage, pieces: readonly Buffer[]): void {
  const { id } = message;
  try {
    let sent = 0;
    for (const piece of perform(message, pieces)) {
      sent += piece.length;
      if (sent > message.maxBytes) throw tooLarge(message.maxBytes);
      link.sendBytes(id, piece);
    }
    link.send({ type: 'file', id });
  } catch (error) {
    link.send({ type: 'file', id, error: error instanceof Refused ? error.message : reasonOf(error) });
  }
}

function* perform({ op, path, maxBytes, folder }: FileMessage, pieces: readonly Buffer[]): Generator<Uint8Array> {
  const names = path === '' ? [] : path.split('/');
  if (names.some((name) => name === '' || name === '.' || name === '..'))
    throw new Refused('the path leaves the workspace');
  if (op === 'list') return yield* rowsBelow(folder, names);
  if (op === 'export') return yield* rowsBelow(folder, names, maxBytes - ROWS_BYTES);
  const last = names.at(-1);
  if (last === undefined) throw new Refused('the path names no file');
  const parent = openFolder(folder, names.slice(0, -1), op === 'write');
  try {
    const place = `/proc/self/fd/${parent}/${last}`;
    if (op === 'read') yield* readFile(place, maxBytes);
    else if (op === 'write') writeFile(place, pieces);
    else remove(place);
  } finally {
    closeSync(parent);
  }
}

/** Opens a folder below the workspace, step by step. With `make`, missing folders are created. */
function openFolder(folder: string, names: readonly string[], make: boolean): number {
  const flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW;
  let current = openSync(folder, flags);
  for (const name of names) {
    const place = `/proc/self/fd/${current}/${name}`;
    try {
      if (make) makeFolder(place);
      const next = openSync(place, flags);
      closeSync(current);
      current = next;
    } catch (error) {
      closeSync(current);
      throw error;
    }
  }
  return current;
}

function makeFolder(place: string): void {
  try {
    mkdirSync(place, 0o755);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}

function* readFile(place: string, maxBytes: number): Generator<Uint8Array> {
  const descriptor = openSync(place, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  try {
    const status = fstatSync(descriptor);
    if (!status.isFile()) throw new Refused('it is no regular file');
    if (status.size > maxBytes) throw tooLarge(maxBytes, status.size);
    // Reads only the current size, so that a growing file has an end.
    for (let left = status.size; left > 0;) {
      const piece = Buffer.allocUnsafe(Math.min(left, PIECE_BYTES));
      const size = readSync(descriptor, piece);
      if (size === 0) break;
      left -= size;
      yield piece.subarray(0, size);
    }
  } finally {
    closeSync(descriptor);
  }
}

function writeFile(place: string, pieces: readonly Buffer[]): void {
  const there = lstatSync(place, { throwIfNoEntry: false });
  if (there !== undefined && !there.isFile())
    throw new Refused('there is something else of this name, which is no regular file');
  const descriptor = openSync(place, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_NONBLOCK, 0o644);
  try {
    if (!fstatSync(descriptor).isFile())
      throw new Refused('there is something else of this name, which is no regular file');
    for (const piece of pieces)
      for (let offset = 0; offset < piece.length;) offset += writeSync(descriptor, piece, offset);
  } finally {
    closeSync(descriptor);
  }
}

function remove(place: string): void {
  if (lstatSync(place).isDirectory()) rmSync(place, { recursive: true });
  else unlinkSync(place);
}

function* rowsBelow(folder: string, names: readonly string[], room?: number): Generator<Uint8Array> {
  const descriptor = openFolder(folder, names, false);
  try {
    yield* listRows(descriptor, names, room);
  } finally {
    closeSync(descriptor);
  }
}

function tooLarge(maxBytes: number, bytes?: number): Refused {
  return new Refused(
    `at most ${maxBytes} bytes are handed out at once${bytes === undefined ? '' : `, it has ${bytes}`}`,
  );
}

function reasonOf(error: unknown): string {
  switch ((error as NodeJS.ErrnoException).code) {
    case 'ENOENT':
      return 'it is not there';
    case 'ELOOP':
    case 'ENOTDIR':
      return 'a link or a file stands where a folder should, and no link is followed';
    case 'EISDIR':
      return 'it is a folder';
    case 'EACCES':
    case 'EPERM':
      return 'its permissions do not allow it';
    case 'ENOSPC':
    case 'EDQUOT':
      return 'the workspace is full';
    case undefined:
      return 'it could not be done';
    default:
      return `it could not be done (${(error as NodeJS.ErrnoException).code})`;
  }
}

// Ctrl-C is meant for runs.
process.on('SIGINT', () => undefined);
link.stayAlive(true);
link.send({ type: 'waiting' });
