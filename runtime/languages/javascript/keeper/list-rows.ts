import { Buffer } from 'node:buffer';
import { closeSync, constants, fstatSync, lstatSync, openSync, readdirSync, readSync, type Stats } from 'node:fs';
import { MAX_PATH_BYTES, MAX_PATH_DEPTH } from '../../../../src/contracts/text/relative-path.ts';
import {
  CUT_ROW,
  EMPTY_FOLDER,
  MOST_ROWS,
  ROWS_BYTES,
  type WorkspaceRow,
} from '../../../../src/protocol/messages/session-messages.ts';

/** Characters shown of a path that is too long. */
const SHOWN_CHARACTERS = 1_000;
const { O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants;

/**
 * Lists all entries below a folder in path order, one line of JSON each. No link is followed. An entry that cannot be read or shown is a row with the
 * reason.
 *
 * @param top descriptor of the folder
 * @param names names of the path to it
 * @param room if given, the content of each file follows its row; the most bytes of all contents together
 */
export function* listRows(top: number, names: readonly string[], room?: number): Generator<Uint8Array> {
  const isExport = room !== undefined;
  let rows = 0;
  let rowBytes = 0;
  let content = 0;
  let isCut = false;

  const line = (row: WorkspaceRow): Uint8Array => {
    const text = Buffer.from(`${JSON.stringify(row)}\n`);
    rows += 1;
    rowBytes += text.length;
    return text;
  };
  function* file(place: string, path: string, { size }: Stats): Generator<Uint8Array> {
    if (!isExport) return yield line({ path, kind: 'file', bytes: size });
    const read = readRegular(place, room - content);
    const overRoom = `the files together are over ${room} bytes`;
    if (typeof read === 'string' || read === undefined)
      return yield line({ path, kind: 'file', bytes: 0, fault: read ?? overRoom });
    const { bytes, executable } = read;
    content += bytes.length;
    yield line({ path, kind: 'file', bytes: bytes.length, executable });
    yield bytes;
  }
  function* folder(place: string, path: string, depth: number): Generator<Uint8Array> {
    const row = { path, kind: 'folder', bytes: 0 } as const;
    let inner: number | undefined;
    try {
      let found: Buffer[];
      try {
        inner = openSync(place, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
        found = namesIn(inner);
      } catch (error) {
        return yield line({ ...row, fault: unreadable(error) });
      }
      if (depth >= MAX_PATH_DEPTH && found.length > 0)
        return yield line({ ...row, fault: `deeper than ${MAX_PATH_DEPTH} folders` });
      yield line(isExport && found.length === 0 ? { ...row, fault: EMPTY_FOLDER } : row);
      yield* entries(inner, found, path, depth);
    } finally {
      if (inner !== undefined) closeSync(inner);
    }
  }
  function* entries(parent: number, found: readonly Buffer[], below: string, depth: number): Generator<Uint8Array> {
    for (const raw of found) {
      isCut ||= rows >= MOST_ROWS || rowBytes > ROWS_BYTES / 2;
      if (isCut) return;
      const name = raw.toString();
      const shown = Buffer.from(name).equals(raw) ? name : raw.toString('latin1');
      const path = below === '' ? shown : `${below}/${shown}`;
      const isLong = Buffer.byteLength(path) > MAX_PATH_BYTES;
      const other = { path: isLong ? `${path.slice(0, SHOWN_CHARACTERS)}…` : path, kind: 'other', bytes: 0 } as const;
      const place = `/proc/self/fd/${parent}/${name}`;
      const fault = isLong ? 'path over 4,096 bytes' : shown === name ? undefined : 'its name is not UTF-8';
      const status = fault ?? statusOf(place);
      if (status === undefined) continue;
      if (typeof status === 'string') yield line({ ...other, fault: status });
      else if (status.isDirectory()) yield* folder(place, path, depth + 1);
      else if (status.isFile()) yield* file(place, path, status);
      else yield line(other);
    }
  }
  yield* entries(top, namesIn(top), names.join('/'), names.length);
  if (isCut) yield line(CUT_ROW);
}

/** In byte order; a program can create names that are not UTF-8. */
function namesIn(folder: number): Buffer[] {
  return readdirSync(`/proc/self/fd/${folder}`, { encoding: 'buffer' }).toSorted(Buffer.compare);
}

/** The status of an entry itself, `undefined` if it no longer exists, or the reason why its status cannot be read. */
function statusOf(place: string): Stats | string | undefined {
  try {
    return lstatSync(place, { throwIfNoEntry: false });
  } catch (error) {
    return unreadable(error);
  }
}

/** Reads a regular file, or returns the reason why not; `undefined` if it has over `room` bytes. */
function readRegular(place: string, room: number): { bytes: Uint8Array; executable: boolean } | string | undefined {
  let descriptor: number | undefined;
  try {
    descriptor = openSync(place, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    const status = fstatSync(descriptor);
    if (!status.isFile()) return 'it is no regular file';
    const { size, mode } = status;
    if (size > room) return undefined;
    // Reads only the current size, so that a growing file has an end.
    const bytes = Buffer.allocUnsafe(size);
    let offset = 0;
    while (offset < size) {
      const read = readSync(descriptor, bytes, offset, size - offset, null);
      if (read === 0) break;
      offset += read;
    }
    return { bytes: bytes.subarray(0, offset), executable: (mode & 0o111) !== 0 };
  } catch (error) {
    return unreadable(error);
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

function unreadable(error: unknown): string {
  return `unreadable (${(error as NodeJS.ErrnoException).code ?? 'error'})`;
}
