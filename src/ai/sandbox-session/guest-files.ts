import type { GuestOperations, GuestPorts } from './guest-operations.ts';

/** A file that is read or written in pieces, under a number of the host. */
export interface FilePiece {
  handle: number;
}

/** Reads and writes files inside. It is sent as text: see {@link makeGuest}. */
export function guestFiles({ at }: GuestPorts): GuestOperations {
  const fs = process.getBuiltinModule('node:fs');
  const paths = process.getBuiltinModule('node:path');
  const { randomUUID } = process.getBuiltinModule('node:crypto');
  const open = new Map<number, number>();
  /** Files that are being written, under another name until they are whole. */
  const unfinished = new Map<number, { from: string; to: string }>();

  const close = ({ handle }: FilePiece): void => {
    const descriptor = open.get(handle);
    open.delete(handle);
    if (descriptor !== undefined) fs.closeSync(descriptor);
  };
  const drop = ({ handle }: FilePiece): void => {
    close({ handle });
    const written = unfinished.get(handle);
    unfinished.delete(handle);
    if (written !== undefined) fs.rmSync(written.from, { force: true });
  };
  const read = ({ handle, most }: FilePiece & { most: number }): { said: object; bytes: Uint8Array } => {
    const descriptor = open.get(handle) ?? -1;
    const room = Buffer.alloc(most);
    let filled = 0;
    let count = -1;
    while (count !== 0 && filled < most) {
      count = fs.readSync(descriptor, room, filled, most - filled, null);
      filled += count;
    }
    const isWhole = filled < most;
    if (isWhole) close({ handle });
    return { said: { isWhole }, bytes: room.subarray(0, filled) };
  };
  const write = ({ handle, base64 }: FilePiece & { base64: string }): { said: object } => {
    const bytes = Buffer.from(base64, 'base64');
    const descriptor = open.get(handle) ?? -1;
    let done = 0;
    while (done < bytes.length) done += fs.writeSync(descriptor, bytes, done, bytes.length - done);
    return { said: {} };
  };
  const kindOf = (entry: { isFile(): boolean; isDirectory(): boolean }): string =>
    entry.isFile() ? 'file' : entry.isDirectory() ? 'directory' : 'other';
  // A special file may have no process at its other end, so opening it must not wait.
  const openRegular = (place: string, flags: number): { descriptor: number; mode: number } => {
    const descriptor = fs.openSync(place, flags | fs.constants.O_NONBLOCK);
    const stats = fs.fstatSync(descriptor);
    if (stats.isFile()) return { descriptor, mode: stats.mode & 0o7777 };
    fs.closeSync(descriptor);
    throw new Error('it is no regular file');
  };
  /** The mode of an existing file. A file that a program may not write to is refused, as for the program itself. */
  const writableMode = (place: string): number | undefined => {
    if (fs.lstatSync(place, { throwIfNoEntry: false }) === undefined) return undefined;
    const { descriptor, mode } = openRegular(place, fs.constants.O_WRONLY);
    fs.closeSync(descriptor);
    return mode;
  };
  /** The target of links, even if it does not exist. A circle of links stays a link, which cannot be opened. */
  const behindLinks = (place: string): string => {
    let end = place;
    for (let count = 0; count < 40; count += 1) {
      if (fs.lstatSync(end, { throwIfNoEntry: false })?.isSymbolicLink() !== true) break;
      end = paths.resolve(fs.realpathSync(paths.dirname(end)), fs.readlinkSync(end));
    }
    return end;
  };

  return {
    openToRead({ path, handle, most }: { path: string; handle: number; most: number }) {
      open.set(handle, openRegular(at(path), fs.constants.O_RDONLY).descriptor);
      return read({ handle, most });
    },
    read,
    openToWrite({ path, handle }: { path: string; handle: number }) {
      const { O_WRONLY, O_CREAT, O_EXCL } = fs.constants;
      fs.mkdirSync(paths.dirname(at(path)), { recursive: true });
      const to = behindLinks(at(path));
      const mode = writableMode(to);
      const from = paths.join(paths.dirname(to), `.skillcell-${randomUUID()}`);
      const descriptor = fs.openSync(from, O_WRONLY | O_CREAT | O_EXCL, 0o644);
      open.set(handle, descriptor);
      unfinished.set(handle, { from, to });
      if (mode !== undefined) fs.fchmodSync(descriptor, mode);
      return { said: {} };
    },
    write,
    /** The file is whole, and replaces the one at its place. */
    finish({ handle }: FilePiece) {
      const written = unfinished.get(handle);
      if (written === undefined) throw new Error('nothing of it is there any more');
      close({ handle });
      fs.renameSync(written.from, written.to);
      unfinished.delete(handle);
      return { said: {} };
    },
    /** Ends a read early, or drops an unfinished file. */
    close(piece: FilePiece) {
      drop(piece);
      return { said: {} };
    },
    stat({ path }: { path: string }) {
      const stats = fs.statSync(at(path));
      return { said: { type: kindOf(stats), size: stats.size } };
    },
    list({ path }: { path: string }) {
      const place = at(path);
      if (!fs.statSync(place).isDirectory()) throw new Error('it is no directory');
      const rows = fs.readdirSync(place, { withFileTypes: true }).map((entry) => {
        return { name: entry.name, type: entry.isSymbolicLink() ? 'symlink' : kindOf(entry) };
      });
      return { said: {}, bytes: Buffer.from(JSON.stringify(rows)) };
    },
    remove({ path }: { path: string }) {
      const place = at(path);
      if (fs.lstatSync(place).isDirectory()) throw new Error('it is a directory');
      fs.unlinkSync(place);
      return { said: {} };
    },
  };
}
