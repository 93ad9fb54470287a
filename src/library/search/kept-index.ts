import { closeSync, fsyncSync, mkdirSync, openSync, readdirSync, renameSync, statSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { removeTorn, syncFolder, tornPath } from '../../durable/durable-file.ts';
import { hashFile } from '../../durable/hash-file.ts';
import { removeTree } from '../../durable/remove-tree.ts';
import { loadSqlite } from './load-sqlite.ts';

/** Disk limit of all indexes together. The most recently used one always stays. */
const KEPT_BYTES: number = 1024 * 1024 * 1024;
const KEPT_INDEXES = 64;
const NAME = /^([0-9a-f]{64})-([0-9a-f]{64})\.sqlite$/;

/**
 * Opens the index of a set that an earlier search has kept. Its name holds the digest of its bytes; a torn or changed file is removed.
 *
 * @param folder of the indexes. It must be private, as a writer of a file also chooses its name.
 * @param set digest of the set
 * @returns undefined where there is no such index
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
 * Keeps an index for later processes. It is written to a temporary folder and renamed, so readers see the whole file or none.
 *
 * @param folder an existing private folder
 * @throws the system's error
 */
export function keepIndex(folder: string, set: string, database: DatabaseSync): void {
  removeTorn(folder);
  // A separate folder, since SQLite puts a journal beside its file.
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

/** The file never changes again, so SQLite needs no lock and no journal. */
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
    // Evicted meanwhile by another process, or not a file.
    return undefined;
  }
}

/** Removes a file with the name of an index that is not valid. */
function discard(path: string): void {
  try {
    removeTree(path);
  } catch {
    // On a read-only disk it stays, and is ignored.
  }
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder).filter((name) => NAME.test(name));
  } catch {
    // The folder is missing before the first index.
    return [];
  }
}

/** Removes the least recently used indexes. A process that has one open keeps its access. */
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

/** Eviction goes by the time of last use. */
function touch(path: string): void {
  try {
    const now = new Date();
    utimesSync(path, now, now);
  } catch {
    // Evicted meanwhile, or on a read-only disk.
  }
}
