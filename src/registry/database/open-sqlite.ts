import { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { type DatabaseConnection, Kysely, sql } from 'kysely';
import { GenericSqliteWorkerDialect } from 'kysely-generic-sqlite/worker';
import { createNodeWorkerExecutor } from 'kysely-generic-sqlite/worker-helper-node';
import { SkillcellError } from '../../contracts/errors/skillcell-error.ts';
import { inPackage } from '../../contracts/package-root.ts';
import { unavailable, type Database } from './database.ts';
import { holdFolder } from './hold-folder.ts';
import { migrate, type Definitions } from './migrations.ts';
import type { Tables } from './tables.ts';

const FILE = 'skillcell.db';
/** Messages of SQLITE_FULL, SQLITE_IOERR, SQLITE_BUSY and SQLITE_READONLY: the worker passes on no codes. */
const OF_THE_DISK = /^(?:database or disk is full|disk I\/O error|database is locked|attempt to write a readonly)/;

const DEFINITIONS: Definitions = {
  serial: sql`integer primary key autoincrement`,
  time: 'integer',
  bytes: 'blob',
  async words(db) {
    await sql`create virtual table job_words using fts5(words, content='', contentless_delete=1, prefix='2 3')`.execute(
      db,
    );
  },
};

/**
 * Opens the SQLite database of a folder, in a worker thread: a commit takes up to 80 ms there.
 *
 * @throws SkillcellError `database.in-use`, `database.newer`, `database.unavailable`
 */
export async function openSqlite(folder: string): Promise<Database> {
  const free = await holdFolder(folder);
  // Only the owner may read the jobs and the hashes of tokens. The files beside it get the same mode.
  closeSync(openSync(join(folder, FILE), 'a', 0o600));
  const worker = new Worker(workerFile(), { env: {}, execArgv: [] });
  const dialect = new GenericSqliteWorkerDialect(
    createNodeWorkerExecutor({ worker, data: { path: join(folder, FILE) } }),
    (connection) => guardQueries(connection),
  );
  const db = new Kysely<Tables>({ dialect });
  const isReady = (): Promise<boolean> =>
    sql`select 1`.execute(db).then(
      () => true,
      () => false,
    );
  let closing: Promise<void> | undefined;
  const close = async (): Promise<void> => {
    try {
      await db.destroy();
    } finally {
      await free();
    }
  };
  const database: Database = {
    db,
    // No other process looks for them.
    signs: db,
    system: 'sqlite',
    inTurn: (work) => work(),
    isReady,
    hasWords: (words) => sql`job_words match ${words.map((word) => `"${word}"*`).join(' ')}`,
    storedWords: (words) => sql`${words.join(' ')}`,
    close: () => (closing ??= close()),
    [Symbol.asyncDispose]: () => database.close(),
  };
  try {
    await migrate(db, DEFINITIONS);
  } catch (error) {
    // Without a connection, there is nothing to close but the worker.
    await database.close().catch(() => undefined);
    await worker.terminate();
    throw SkillcellError.isInstance(error) ? error : unavailable(error);
  }
  return database;
}

/** Gives errors of the disk our codes: a query may succeed when there is room again. */
async function guardQueries(connection: DatabaseConnection): Promise<void> {
  const executeQuery = connection.executeQuery.bind(connection);
  connection.executeQuery = async (...given) => {
    try {
      return await executeQuery<never>(...given);
    } catch (error) {
      throw OF_THE_DISK.test((error as Error).message)
        ? unavailable(error, 'its disk is full, or cannot be written')
        : error;
    }
  };
}

/** A worker is a file of its own in the package. */
function workerFile(): URL | string {
  return import.meta.url.endsWith('.ts')
    ? new URL('./sqlite-worker.ts', import.meta.url)
    : inPackage('dist/registry/database/sqlite-worker.js');
}
