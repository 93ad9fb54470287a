import { chmodSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { setTimeout as pause } from 'node:timers/promises';
import { privateFolder } from '../cache/private-folder.ts';
import { OBJECTS_FILE, type TreeCache } from '../cache/tree-cache.ts';
import { digestOf } from '../../../skills/text/digest.ts';

/** Cached reads of buckets: small objects by store, key and ETag, and digests of skills by their revisions. */
export interface ObjectIndex {
  find(key: string, etag: string): Uint8Array | undefined;
  keep(key: string, etag: string, bytes: Uint8Array): void;
  findDigest(path: string, revision: string): string | undefined;
  keepDigest(path: string, revision: string, digest: string): void;
  /** Writes the last entries, for which it may wait for another process. */
  close(): Promise<void>;
}

/** Limit of the file in bytes, for all stores together; lower where the cache is small. */
const MOST_BYTES = 256 * 1024 * 1024;
/** The limit as a share of the cache's own limit. */
const SHARE = 1 / 4;
/** Writes per transaction: each transaction waits for the disk. */
const BATCH = 512;
/** Batches that wait in memory while another process writes. */
const MOST_BATCHES = 2;
/** The longest wait for another process that writes. SQLite itself never waits, as it would block the event loop. */
const BUSY_MS = 5_000;
const NAP_MS = 20;
const TABLES = `
PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA cache_size = -2048; PRAGMA journal_size_limit = 1048576;
CREATE TABLE IF NOT EXISTS objects (store TEXT, key TEXT, etag TEXT, digest TEXT, bytes BLOB, PRIMARY KEY (store, key));
CREATE TABLE IF NOT EXISTS skills (store TEXT, path TEXT, revision TEXT, digest TEXT, PRIMARY KEY (store, path));
`;

/** Entries that are not written yet. */
interface Waiting {
  objects: Map<string, { etag: string; bytes: Uint8Array }>;
  digests: Map<string, { revision: string; digest: string }>;
  bytes: number;
}

/**
 * Opens the index of one store in the folder of a cache. A store is a bucket with a prefix; entries are never shared between stores. Without a
 * usable index, everything is read from the bucket again.
 */
export async function openObjectIndex(cache: Cache, store: string): Promise<ObjectIndex> {
  const opened = await openTables(cache.folder);
  return opened === undefined ? NOTHING_KEPT : indexOf(opened, cache, store);
}

type Cache = Pick<TreeCache, 'folder' | 'maxBytes' | 'added'>;

const NOTHING_KEPT: ObjectIndex = {
  find: () => undefined,
  keep() {},
  findDigest: () => undefined,
  keepDigest() {},
  async close() {},
};

async function openTables(folder: string): Promise<DatabaseSync | undefined> {
  const { DatabaseSync } = await import('node:sqlite');
  const path = join(folder, OBJECTS_FILE);
  const open = (): DatabaseSync => {
    const opened = new DatabaseSync(path);
    try {
      opened.exec(TABLES);
      chmodSync(path, 0o600);
      return opened;
    } catch (error) {
      opened.close();
      throw error;
    }
  };
  try {
    privateFolder(folder);
    try {
      return await whenFree(open);
    } catch (error) {
      if (!DAMAGED.has(codeOf(error))) throw error;
      for (const ending of ['', '-wal', '-shm']) rmSync(`${path}${ending}`, { force: true });
      return await whenFree(open);
    }
  } catch {
    // Another user's folder, or a full disk: continue without an index.
    return undefined;
  }
}

/** SQLITE_CORRUPT, SQLITE_NOTADB. */
const DAMAGED: ReadonlySet<number> = new Set([11, 26]);
/** SQLITE_BUSY, SQLITE_LOCKED: another process or store writes. */
const BUSY: ReadonlySet<number> = new Set([5, 6]);

/** The code of an error of SQLite, without its details. */
function codeOf(error: unknown): number {
  return ((error as { errcode?: number }).errcode ?? 0) & 0xff;
}

/** Repeats work while another process writes. @throws the error of SQLite */
async function whenFree<Result>(work: () => Result): Promise<Result> {
  for (const end = performance.now() + BUSY_MS; ;) {
    try {
      return work();
    } catch (error) {
      if (!BUSY.has(codeOf(error)) || performance.now() > end) throw error;
      await pause(NAP_MS);
    }
  }
}

function indexOf(database: DatabaseSync, cache: Cache, store: string): ObjectIndex {
  const keptBytes = Math.min(MOST_BYTES, cache.maxBytes * SHARE);
  let waiting = nothingWaits();
  const statements = new Map<string, StatementSync>();
  const statement = (text: string): StatementSync => {
    const known = statements.get(text) ?? database.prepare(text);
    statements.set(text, known);
    return known;
  };

  const write = (): void => {
    database.exec('BEGIN IMMEDIATE');
    try {
      for (const [key, { etag, bytes }] of waiting.objects) {
        const insert = 'INSERT OR REPLACE INTO objects (store, key, etag, digest, bytes) VALUES (?, ?, ?, ?, ?)';
        statement(insert).run(store, key, etag, digestOf(bytes), bytes);
      }
      for (const [path, { revision, digest }] of waiting.digests) {
        const insert = 'INSERT OR REPLACE INTO skills (store, path, revision, digest) VALUES (?, ?, ?, ?)';
        statement(insert).run(store, path, revision, digest);
      }
      database.exec('COMMIT');
    } catch (error) {
      database.exec('ROLLBACK');
      throw error;
    }
  };

  /** @throws the error of SQLite while another process writes; other entries that cannot be written are dropped */
  const flush = (): void => {
    const { objects, digests, bytes } = waiting;
    if (objects.size + digests.size === 0) return;
    try {
      write();
    } catch (error) {
      if (BUSY.has(codeOf(error))) throw error;
    }
    waiting = nothingWaits();
    attempt(() => evict(database, keptBytes));
    attempt(() => cache.added(bytes));
  };

  /** Number of batches that wait. */
  const batches = (): number =>
    Math.max((waiting.objects.size + waiting.digests.size) / BATCH, waiting.bytes / (keptBytes / 2));
  /** While another process writes, the entries wait for a later call, as many as fit. */
  const tryFlush = (): void => {
    try {
      flush();
    } catch {
      // They are read from the bucket again.
      if (batches() >= MOST_BATCHES) waiting = nothingWaits();
    }
  };

  return {
    find(key, etag) {
      const soon = waiting.objects.get(key);
      if (soon !== undefined) return soon.etag === etag ? soon.bytes : undefined;
      return attempt(() => {
        const row = statement('SELECT digest, bytes FROM objects WHERE store = ? AND key = ? AND etag = ?').get(
          store,
          key,
          etag,
        );
        const { digest, bytes } = (row ?? {}) as { digest?: string; bytes?: Uint8Array };
        return bytes !== undefined && digestOf(bytes) === digest ? bytes : undefined;
      });
    },
    keep(key, etag, bytes) {
      waiting.bytes += bytes.length - (waiting.objects.get(key)?.bytes.length ?? 0);
      waiting.objects.set(key, { etag, bytes });
      if (batches() >= 1) tryFlush();
    },
    findDigest(path, revision) {
      const soon = waiting.digests.get(path);
      if (soon !== undefined) return soon.revision === revision ? soon.digest : undefined;
      return attempt(() => {
        const row = statement('SELECT digest FROM skills WHERE store = ? AND path = ? AND revision = ?').get(
          store,
          path,
          revision,
        );
        return (row as { digest?: string } | undefined)?.digest;
      });
    },
    keepDigest(path, revision, digest) {
      waiting.digests.set(path, { revision, digest });
      tryFlush();
    },
    async close() {
      try {
        await whenFree(flush);
      } catch {
        // Another process writes for long: the next process reads from the bucket.
      }
      attempt(() => database.close());
    },
  };
}

function nothingWaits(): Waiting {
  return { objects: new Map(), digests: new Map(), bytes: 0 };
}

/** Evicts the oldest rows where the file is over its limit, and returns the space to the system. */
function evict(database: DatabaseSync, keptBytes: number): void {
  const { used } = database
    .prepare(
      'SELECT (page_count - freelist_count) * page_size AS used FROM pragma_page_count, pragma_freelist_count, pragma_page_size',
    )
    .get() as { used: number };
  if (used <= keptBytes) return;
  database
    .prepare(
      'DELETE FROM objects WHERE rowid IN (SELECT rowid FROM (SELECT rowid, sum(length(bytes)) OVER (ORDER BY rowid DESC) AS kept FROM objects) WHERE kept > ?)',
    )
    .run(keptBytes / 2);
  database.exec(
    'DELETE FROM skills WHERE rowid IN (SELECT rowid FROM skills ORDER BY rowid LIMIT (SELECT count(*) / 2 FROM skills))',
  );
  database.exec('PRAGMA incremental_vacuum; PRAGMA wal_checkpoint(TRUNCATE)');
}

/** A failing index counts as an empty one. */
function attempt<Result>(work: () => Result): Result | undefined {
  try {
    return work();
  } catch {
    // Closed, full, locked for long, or damaged: the caller reads from the bucket.
    return undefined;
  }
}
