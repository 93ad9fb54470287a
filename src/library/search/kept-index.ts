import { closeSync, fsyncSync, mkdirSync, openSync, readdirSync, renameSync, statSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { removeTorn, syncFolder, tornPath } from '../../durable/durable-file.ts';
import { hashFile } from '../../durable/hash-file.ts';
import { removeTree } from '../../durable/remove-tree.ts';
import { loadSqlite } from './load-sqlite.ts';

/** What indexes may take of the disk together. The one that was used last stays, however large. */
const KEPT_BYTES: number = 1024 * 1024 * 1024;
const KEPT_INDEXES = 64;
const NAME = /^([0-9a-f]{64})-([0-9a-f]{64})\.sqlite$/;

/**
 * Opens the index of a set that an earlier search has kept. Its name holds the digest of its bytes: one that is torn or was changed is
 * removed.
 *
 * @param folder where indexes are; nobody else may have written it, for who writes a file names it as well
 * @param set digest of the set
 * @returns undefined where there is none
 */
export function findIndex(folder: string, set: string): DatabaseSync | undefined {
  for (const name of namesIn(folder)) {
    const [, ofSet, digest] = NAME.exec(name) ?? [];
    if (ofSet !== set) continue;
    const path = join(folder, name);
    if (digestOfFile(path) !== digest) {
      discard(path);
      continue;
    }
    touch(path);
    return openFile(path);
  }
  return undefined;
}

/**
 * Keeps an index for later processes: written aside, then renamed, so that it is there whole or not at all.
 *
 * @param folder a private one that is there
 * @throws the system's error
 */
export function keepIndex(folder: string, set: string, database: DatabaseSync): void {
  removeTorn(folder);
  // A folder of its own, since SQLite puts a journal beside what it writes.
  const aside = tornPath(folder);
  mkdirSync(aside, { mode: 0o700 });
  try {
    const path = join(aside, 'index.sqlite');
    database.prepare('VACUUM INTO ?').run(path);
    const file = openSync(path, 'r');
    try {
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    const name = `${set}-${digestOfFile(path)}.sqlite`;
    renameSync(path, join(folder, name));
    syncFolder(folder);
    evict(folder, name);
  } finally {
    removeTree(aside);
  }
}

/** Nobody changes the file any more, so nothing is locked, and no journal is looked for. */
function openFile(path: string): DatabaseSync {
  const url = pathToFileURL(path);
  url.search = '?immutable=1';
  const { DatabaseSync } = loadSqlite();
  return new DatabaseSync(url, { readOnly: true });
}

function digestOfFile(path: string): string | undefined {
  try {
    return hashFile(path, KEPT_BYTES).digest.slice('sha256:'.length);
  } catch {
    // Evicted meanwhile by another process, or no file.
    return undefined;
  }
}

/** Whatever stands under the name of an index and is none. */
function discard(path: string): void {
  try {
    removeTree(path);
  } catch {
    // On a disk that is not written it stays, and is passed over.
  }
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder).filter((name) => NAME.test(name));
  } catch {
    // There is none before the first index.
    return [];
  }
}

/** Removes what was used longest ago. A process that has one open keeps what it has. */
function evict(folder: string, latest: string): void {
  const files = namesIn(folder).flatMap((name) => {
    const stats = statSync(join(folder, name), { throwIfNoEntry: false });
    return stats === undefined ? [] : [{ name, bytes: stats.size, used: name === latest ? Infinity : stats.mtimeMs }];
  });
  let bytes = 0;
  for (const [index, file] of files.toSorted((a, b) => b.used - a.used).entries()) {
    bytes += file.bytes;
    if (file.name !== latest && (index >= KEPT_INDEXES || bytes > KEPT_BYTES)) discard(join(folder, file.name));
  }
}

/** What was used last is evicted last. */
function touch(path: string): void {
  try {
    const now = new Date();
    utimesSync(path, now, now);
  } catch {
    // Evicted meanwhile, or on a disk that is not written.
  }
}
