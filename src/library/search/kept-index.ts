import { closeSync, fsyncSync, mkdirSync, openSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { removeTorn, syncFolder, tornPath } from '../../durable/durable-file.ts';
import { hashFile } from '../../durable/hash-file.ts';
import { removeTree } from '../../durable/remove-tree.ts';
import { entriesIn, evictOldest, removeEntry, touch } from '../stores/cache/cache-entries.ts';
import { namesIn } from '../stores/cache/leases.ts';
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
      removeEntry(path);
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
    const latest = join(folder, `${set}-${digestOfFile(path)}.sqlite`);
    renameSync(path, latest);
    syncFolder(folder);
    // A process that has an evicted index open keeps its access.
    const evict = (each: string): boolean => each !== latest && removeEntry(each);
    evictOldest(entriesIn(folder, NAME, evict), { maxBytes: KEPT_BYTES, maxEntries: KEPT_INDEXES });
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
