import type { GuestOperations, GuestPorts } from './guest-operations.ts';

/** A file is read and written in pieces, under a number that the host gives it. */
export interface FilePiece {
  handle: number;
}

/** Reads and writes files inside. It is sent as text: see {@link makeGuest}. */
export function guestFiles({ at }: GuestPorts): GuestOperations {
  const fs = process.getBuiltinModule('node:fs');
  const paths = process.getBuiltinModule('node:path');
  const open = new Map<number, number>();

  const close = ({ handle }: FilePiece): void => {
    const descriptor = open.get(handle);
    open.delete(handle);
    if (descriptor !== undefined) fs.closeSync(descriptor);
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
  const write = ({ handle, base64, isWhole }: FilePiece & { base64: string; isWhole: boolean }): { said: object } => {
    const bytes = Buffer.from(base64, 'base64');
    const descriptor = open.get(handle) ?? -1;
    try {
      let done = 0;
      while (done < bytes.length) done += fs.writeSync(descriptor, bytes, done, bytes.length - done);
    } catch (error) {
      close({ handle });
      throw error;
    }
    if (isWhole) close({ handle });
    return { said: {} };
  };
  const kindOf = (entry: { isFile(): boolean; isDirectory(): boolean }): string =>
    entry.isFile() ? 'file' : entry.isDirectory() ? 'directory' : 'other';
  // What is no regular file may have nobody at its other end, and is not waited for.
  const openFile = (place: string, flags: number, handle: number): void => {
    const descriptor = fs.openSync(place, flags | fs.constants.O_NONBLOCK, 0o644);
    open.set(handle, descriptor);
    if (fs.fstatSync(descriptor).isFile()) return;
    close({ handle });
    throw new Error('it is no regular file');
  };

  return {
    openToRead({ path, handle, most }: { path: string; handle: number; most: number }) {
      openFile(at(path), fs.constants.O_RDONLY, handle);
      return read({ handle, most });
    },
    read,
    openToWrite({ path, handle }: { path: string; handle: number }) {
      const { O_WRONLY, O_CREAT, O_TRUNC } = fs.constants;
      const place = at(path);
      fs.mkdirSync(paths.dirname(place), { recursive: true });
      openFile(place, O_WRONLY | O_CREAT | O_TRUNC, handle);
      return { said: {} };
    },
    write,
    close(piece: FilePiece) {
      close(piece);
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
