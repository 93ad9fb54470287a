import { Kysely, PostgresDialect, sql, type PostgresPool, type PostgresPoolClient } from 'kysely';
import pg from 'pg';
import { setTimeout as sleep } from 'node:timers/promises';
import { SkillcellError } from '../../contracts/errors/skillcell-error.ts';
import { unavailable, type Database } from './database.ts';
import { migrate, type Definitions } from './migrations.ts';
import type { Tables } from './tables.ts';

/** Key of the advisory lock: "skillcell" in ASCII, as far as it fits. */
const LOCK_KEY = '8316287205064929644';
/** Key of the lock of processes that start: "skillsta". */
const START_KEY = '8316857051266643041';
const MOST_CONNECTIONS = 8;
const CONNECT_MS = 5_000;
/** A query without an answer for so long is given up: TCP would wait for a lost host for a quarter of an hour. */
const ANSWER_MS = 30_000;
/** The same for the signs of life of a process: the next one comes soon. */
const SIGN_MS = 1_500;
/** Pause before the lock is asked for again. */
const PAUSE_MS = 500;
/** SQLSTATE classes and codes of a server that is away, ending, or read-only after a switch to another one. */
const AWAY = /^(?:08...|57P0.|25006|53300)$/;
const DEFINITIONS: Definitions = {
  serial: sql`integer primary key generated always as identity`,
  time: 'bigint',
  bytes: 'bytea',
  async words(db) {
    await sql`create table job_words (rowid integer primary key, words tsvector not null)`.execute(db);
    await sql`create index job_words_words on job_words using gin (words)`.execute(db);
  },
};

/**
 * Opens a PostgreSQL database, version 15 or later.
 *
 * @throws SkillcellError `database.unavailable`, `database.in-use`, `database.newer`
 */
export async function openPostgres(url: string, { isShared }: { isShared: boolean }): Promise<Database> {
  const lock = createLock(url, isShared);
  await lock.take();
  const connections = (connectionTimeoutMillis: number, max: number): pg.Pool => {
    const pool = new pg.Pool({
      connectionString: url,
      ...{ max, connectionTimeoutMillis },
      types: { getTypeParser: typeParser },
    });
    // Without listeners, the end of a connection would end the process: of an idle one, and of one in use.
    pool.on('error', () => undefined);
    pool.on('connect', (client) => client.on('error', () => undefined));
    return pool;
  };
  // Changes of large tables take long.
  const most: { answerMs: number | undefined } = { answerMs: undefined };
  const pool = guarded(connections(CONNECT_MS, MOST_CONNECTIONS), lock, () => most.answerMs);
  const db = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) });
  const ofSigns = guarded(connections(SIGN_MS, 1), lock, () => SIGN_MS);
  const signs = new Kysely<Tables>({ dialect: new PostgresDialect({ pool: ofSigns }) });
  let closing: Promise<void> | undefined;
  const close = async (): Promise<void> => {
    // Before its first query, Kysely would not end the pool.
    await sql`select 1`.execute(db).catch(() => undefined);
    await db.destroy();
    await ofSigns.end();
    await lock.close();
  };
  const database: Database = {
    db,
    signs,
    system: 'postgres',
    async inTurn(work) {
      const client = await connect(url);
      try {
        // The end of the connection frees it.
        await client.query('select pg_advisory_lock($1::bigint)', [START_KEY]);
        return await work();
      } finally {
        await client.end().catch(() => undefined);
      }
    },
    isReady: () =>
      sql`select 1`.execute(db).then(
        () => true,
        () => false,
      ),
    hasWords: (words) => sql`words @@ to_tsquery('simple', ${words.map((word) => `${word}:*`).join(' & ')})`,
    storedWords: (words) => sql`to_tsvector('simple', ${words.join(' ')})`,
    close: () => (closing ??= close()),
    [Symbol.asyncDispose]: () => database.close(),
  };
  try {
    await migrate(db, DEFINITIONS);
  } catch (error) {
    await database.close();
    throw error;
  }
  most.answerMs = ANSWER_MS;
  return database;
}

const typeParser: typeof pg.types.getTypeParser = (id, format) =>
  // Counts and times fit into a number.
  id === pg.types.builtins.INT8 && format !== 'binary' ? Number : pg.types.getTypeParser(id, format);

function clientOf(url: string): pg.Client {
  return new pg.Client({ connectionString: url, connectionTimeoutMillis: CONNECT_MS, keepAlive: true });
}

/** A connection of its own. @throws SkillcellError `database.unavailable` */
async function connect(url: string): Promise<pg.Client> {
  const client = clientOf(url);
  client.on('error', () => undefined);
  try {
    await client.connect();
    return client;
  } catch (error) {
    await client.end().catch(() => undefined);
    throw unavailable(error);
  }
}

/** The lock of one process, or of all that share it, which lives as long as its connection. */
interface DatabaseLock {
  /** @throws SkillcellError `database.in-use`, `database.unavailable` */
  take(): Promise<void>;
  isHeld(): boolean;
  close(): Promise<void>;
}

/** The lock is asked for again after the server was away. Until then, no query is made: another process may have it. */
function createLock(url: string, isShared: boolean): DatabaseLock {
  const lockFunction = isShared ? 'pg_try_advisory_lock_shared' : 'pg_try_advisory_lock';
  let holder: pg.Client | undefined;
  let isClosed = false;
  const take = async (): Promise<void> => {
    const client = clientOf(url);
    const lost = (): void => {
      if (holder !== client) return;
      holder = undefined;
      void again();
    };
    client.on('error', lost);
    client.on('end', lost);
    try {
      await client.connect();
      const query = `select ${lockFunction}($1::bigint) as taken`;
      const { rows } = await client.query<{ taken: boolean }>(query, [LOCK_KEY]);
      if (rows[0]?.taken !== true)
        throw new SkillcellError('database.in-use', 'Cannot open the database: another process serves it.');
    } catch (error) {
      await client.end().catch(() => undefined);
      throw SkillcellError.isInstance(error) ? error : unavailable(error);
    }
    holder = client;
  };
  const again = async (): Promise<void> => {
    while (!isClosed && holder === undefined) {
      await sleep(PAUSE_MS, undefined, { ref: false });
      // The next turn tries again.
      if (!isClosed) await take().catch(() => undefined);
    }
  };
  return {
    take,
    isHeld: () => holder !== undefined,
    async close() {
      isClosed = true;
      await holder?.end().catch(() => undefined);
    },
  };
}

/**
 * A pool whose failures of the server have our code. It gives no connection while another process may use the database, and gives up connections
 * on which a query has had no answer.
 */
function guarded(pool: pg.Pool, lock: DatabaseLock, answerMs: () => number | undefined): PostgresPool {
  return {
    options: pool.options,
    async connect() {
      if (!lock.isHeld()) throw unavailable({ code: 'LOCK' });
      const client = await pool.connect().catch((error: unknown) => {
        throw unavailable(error);
      });
      let isSilent = false;
      return {
        async query(text: string, parameters: readonly unknown[]) {
          const answer = client.query(text, [...parameters]);
          try {
            return await answered(answer, answerMs());
          } catch (error) {
            isSilent ||= error === SILENT;
            throw isAway(error) ? unavailable(error) : error;
          }
        },
        release: (destroy = false) => client.release(destroy || isSilent),
      } as unknown as PostgresPoolClient;
    },
    end: () => pool.end(),
  };
}

/** The failure of a query without an answer. */
const SILENT: Error & { code: string } = Object.assign(new Error('no answer'), { code: 'ETIMEDOUT' });

async function answered<Result>(answer: Promise<Result>, ms: number | undefined): Promise<Result> {
  if (ms === undefined) return await answer;
  // Its connection is then closed.
  answer.catch(() => undefined);
  let timer: NodeJS.Timeout | undefined;
  const silence = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(SILENT), ms);
  });
  return await Promise.race([answer, silence]).finally(() => clearTimeout(timer));
}

/** Whether the server or its connection is away. An error of a statement has a SQLSTATE of another class. */
function isAway(error: unknown): boolean {
  const { code } = error as { code?: string };
  return code === undefined || AWAY.test(code) || !/^[0-9A-Z]{5}$/.test(code);
}
