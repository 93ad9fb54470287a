import { randomUUID } from 'node:crypto';
import {
  closeSync,
  constants,
  fchmodSync,
  fstatSync,
  lstatSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { Refused } from './refused.ts';

const { O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_WRONLY, O_CREAT, O_EXCL } = constants;
const PIECE_BYTES = 256 * 1024;
const NOT_REGULAR = 'there is something else of this name, which is no regular file';

/** New content of a file. The old content stays until all of the new content has arrived. */
export interface Replacement {
  append(bytes: Uint8Array): void;
  /** The content is whole, and replaces the file at its place. */
  finish(): void;
  /** Removes unfinished content. */
  drop(): void;
}

/**
 * Reads a regular file.
 *
 * @param follow reads a link's target to its end, as a program does; otherwise only the current size, so that a growing file has an end
 */
export function* readRegular(place: string, maxBytes: number, follow: boolean): Generator<Uint8Array> {
  // A special file may have no process at its other end, so opening it must not wait.
  const descriptor = openSync(place, O_RDONLY | O_NONBLOCK | (follow ? 0 : O_NOFOLLOW));
  try {
    const { size } = requireRegular(descriptor, 'it is no regular file');
    if (size > maxBytes) throw tooLarge(maxBytes, size);
    for (let left = follow ? Infinity : size; left > 0;) {
      const piece = Buffer.allocUnsafe(Math.min(left, PIECE_BYTES));
      const count = readSync(descriptor, piece);
      if (count === 0) break;
      left -= count;
      yield piece.subarray(0, count);
    }
  } finally {
    closeSync(descriptor);
  }
}

/**
 * Begins new content of a file in the same folder. An existing file keeps its mode. A file that a program may not write to is refused, as
 * for the program itself.
 *
 * @param place its last name is not followed if it is a link
 */
export function replaceRegular(place: string): Replacement {
  const mode = writableMode(place);
  const from = join(dirname(place), `.skillcell-${randomUUID()}`);
  const descriptor = openSync(from, O_WRONLY | O_CREAT | O_EXCL, 0o644);
  if (mode !== undefined) fchmodSync(descriptor, mode);
  let isOpen = true;
  const close = (): void => {
    if (isOpen) closeSync(descriptor);
    isOpen = false;
  };
  return {
    append(bytes) {
      for (let offset = 0; offset < bytes.length;) offset += writeSync(descriptor, bytes, offset);
    },
    finish() {
      close();
      renameSync(from, place);
    },
    drop() {
      close();
      try {
        rmSync(from, { force: true });
      } catch {
        // The program has closed the folder meanwhile. The first failure is reported.
      }
    },
  };
}

/** The mode of an existing file. */
function writableMode(place: string): number | undefined {
  const there = lstatSync(place, { throwIfNoEntry: false });
  if (there === undefined) return undefined;
  if (!there.isFile()) throw new Refused(NOT_REGULAR);
  const descriptor = openSync(place, O_WRONLY | O_NOFOLLOW | O_NONBLOCK);
  try {
    return requireRegular(descriptor, NOT_REGULAR).mode & 0o7777;
  } finally {
    closeSync(descriptor);
  }
}

function requireRegular(descriptor: number, reason: string): { size: number; mode: number } {
  const status = fstatSync(descriptor);
  if (!status.isFile()) throw new Refused(reason);
  return status;
}

/** The refusal of content over a limit. */
export function tooLarge(maxBytes: number, bytes?: number): Refused {
  return new Refused(
    `at most ${maxBytes} bytes are handed out at once${bytes === undefined ? '' : `, it has ${bytes}`}`,
  );
}
