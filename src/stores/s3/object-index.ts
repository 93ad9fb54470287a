import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { privateFolder } from '../cache/private-folder.ts';
import { digestOf } from '../../skills/text/digest.ts';

/** What was read of buckets before: small objects by store, key and ETag, and digests of skills by their revisions. */
export interface ObjectIndex {
  find(key: string, etag: string): Uint8Array | undefined;
  keep(key: string, etag: string, bytes: Uint8Array): void;
  findDigest(path: string, revision: string): string | undefined;
  keepDigest(path: string, revision: string, digest: string): void;
  close(): void;
}

const FILE = 's3-objects.sqlite';
/** The most bytes that are kept of all stores together. */
const KEPT_BYTES = 256 * 1024 * 1024;
/** How many are written at once: each transaction waits for the disk. */
const BATCH = 512;
const TABLES = `
PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA busy_timeout = 5000; PRAGMA cache_size = -2048;
CREATE TABLE IF NOT EXISTS objects (store TEXT, key TEXT, etag TEXT, digest TEXT, bytes BLOB, PRIMARY KEY (store, key));
CREATE TABLE IF NOT EXISTS skills (store TEXT, path TEXT, revision TEXT, digest TEXT, PRIMARY KEY (store, path));
`;

interface Waiting {
  etag: string;
  bytes: Uint8Array;
}

/**
 * Opens the index of one store in the folder of a cache. Rows of other stores are not seen: a store is its bucket with its prefix, and what
 * was read below one prefix is given to nobody who reads another. Where there can be none, everything is read again.
 */
export async function openObjectIndex(folder: string, store: string): Promise<ObjectIndex> {
  const opened = await openTables(folder);
  return opened === undefined ? NOTHING_KEPT : indexOf(opened, store);
}

const NOTHING_KEPT: ObjectIndex = {
  find: () => undefined,
  keep() {},
  findDigest: () => undefined,
  keepDigest() {},
  close() {},
};

async function openTables(folder: string): Promise<DatabaseSync | undefined> {
  const { DatabaseSync } = await import('node:sqlite');
  const path = join(folder, FILE);
  try {
    privateFolder(folder);
    const opened = new DatabaseSync(path);
    opened.exec(TABLES);
    chmodSync(path, 0o600);
    return opened;
  } catch {
    // Another user's folder, a full disk, or no database any more: a cache that is not there.
    return undefined;
  }
}

function indexOf(database: DatabaseSync, store: string): ObjectIndex {
  const waiting = new Map<string, Waiting>();
  const statements = new Map<string, StatementSync>();
  const statement = (text: string): StatementSync => {
    const known = statements.get(text) ?? database.prepare(text);
    statements.set(text, known);
    return known;
  };

  const flush = (): void => {
    if (waiting.size === 0) return;
    attempt(() => {
      database.exec('BEGIN IMMEDIATE');
      try {
        for (const [key, { etag, bytes }] of waiting) {
          const insert = 'INSERT OR REPLACE INTO objects (store, key, etag, digest, bytes) VALUES (?, ?, ?, ?, ?)';
          statement(insert).run(store, key, etag, digestOf(bytes), bytes);
        }
        database.exec('COMMIT');
      } catch (error) {
        database.exec('ROLLBACK');
        throw error;
      }
    });
    waiting.clear();
  };

  return {
    find(key, etag) {
      const soon = waiting.get(key);
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
      waiting.set(key, { etag, bytes });
      if (waiting.size >= BATCH) flush();
    },
    findDigest(path, revision) {
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
      attempt(() =>
        statement('INSERT OR REPLACE INTO skills (store, path, revision, digest) VALUES (?, ?, ?, ?)').run(
          store,
          path,
          revision,
          digest,
        ),
      );
    },
    close() {
      flush();
      attempt(() => evict(database));
      attempt(() => database.close());
    },
  };
}

/** Forgets what was written first, until the rest is as large as may be. */
function evict(database: DatabaseSync): void {
  const { total } = database.prepare('SELECT coalesce(sum(length(bytes)), 0) AS total FROM objects').get() as {
    total: number;
  };
  if (total <= KEPT_BYTES) return;
  database
    .prepare(
      'DELETE FROM objects WHERE rowid IN (SELECT rowid FROM (SELECT rowid, sum(length(bytes)) OVER (ORDER BY rowid DESC) AS kept FROM objects) WHERE kept > ?)',
    )
    .run(KEPT_BYTES / 2);
}

/** A cache that fails is one that has nothing. */
function attempt<Result>(work: () => Result): Result | undefined {
  try {
    return work();
  } catch {
    // Closed, full, locked for long, or damaged: it is read from the bucket.
    return undefined;
  }
}
