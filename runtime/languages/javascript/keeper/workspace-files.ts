import { closeSync, constants, lstatSync, mkdirSync, openSync, rmSync, unlinkSync } from 'node:fs';
import { ROWS_BYTES } from '../../../../src/protocol/messages/session-messages.ts';
import type { FileMessage } from './file-message.ts';
import { listRows } from './list-rows.ts';
import { Refused } from './refused.ts';
import { readRegular, replaceRegular, type Replacement } from './regular-file.ts';

/** Operations on the workspace that follow no link: each folder of a path is opened relative to its parent. */
export function* readWorkspace({ op, path, maxBytes, folder }: FileMessage): Generator<Uint8Array> {
  if (op === 'list') return yield* rowsBelow(folder, namesOf(path));
  if (op === 'export') return yield* rowsBelow(folder, namesOf(path), maxBytes - ROWS_BYTES);
  const { place, close } = openParent(folder, path, false);
  try {
    if (op === 'read') yield* readRegular(place, maxBytes, false);
    else remove(place);
  } finally {
    close();
  }
}

/** Begins new content of a file, and creates its folders. */
export function writeWorkspace({ folder, path }: FileMessage): Replacement {
  const { place, close } = openParent(folder, path, true);
  try {
    const { append, finish, drop } = replaceRegular(place);
    return {
      append,
      finish() {
        finish();
        close();
      },
      drop() {
        drop();
        close();
      },
    };
  } catch (error) {
    close();
    throw error;
  }
}

function namesOf(path: string): string[] {
  const names = path === '' ? [] : path.split('/');
  if (names.some((name) => name === '' || name === '.' || name === '..'))
    throw new Refused('the path leaves the workspace');
  return names;
}

/** Opens the folder of a file. With `make`, missing folders are created. */
function openParent(folder: string, path: string, make: boolean): { place: string; close(): void } {
  const names = namesOf(path);
  const last = names.at(-1);
  if (last === undefined) throw new Refused('the path names no file');
  const parent = openFolder(folder, names.slice(0, -1), make);
  return { place: `/proc/self/fd/${parent}/${last}`, close: () => closeSync(parent) };
}

/** Opens a folder below the workspace, step by step. With `make`, missing folders are created. */
function openFolder(folder: string, names: readonly string[], make: boolean): number {
  const flags = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;
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
