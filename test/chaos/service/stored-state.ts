import { existsSync, lstatSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Selectable } from 'kysely';
import pg from 'pg';
import type { JobRow } from '../../../src/registry/database/tables.ts';
import { logLines } from '../../fixtures/log-lines.ts';
import type { ServedPlace } from './served-host.ts';

/** A row of a job, as it is stored. */
export type StoredJob = Pick<
  Selectable<JobRow>,
  'id' | 'seq' | 'state' | 'outcome' | 'error_code' | 'label' | 'attempt' | 'rerun_of' | 'idempotency_key' | 'result'
>;

/** The rows of a service, as its database shows them to another client. */
export interface StoredRows {
  jobs: StoredJob[];
  /** Rows of the search that no job has. */
  strayWords: number;
  /** Skills whose present version has no archive. */
  skillsWithoutArchive: string[];
  /** Archives of skills that are not there. */
  strayArchives: number;
}

const JOBS = `select id, seq, state, outcome, error_code, label, attempt, rerun_of, idempotency_key, result from jobs`;
const STRAY = 'select count(*) as number from job_words where rowid not in (select seq from jobs)';
const SKILLS = `select name from kinds where kind = 'Skill' and not exists
  (select 1 from skill_binaries where kind_id = kinds.id and version = kinds.revision)`;
const STRAY_ARCHIVES = 'select count(*) as number from skill_binaries where kind_id not in (select id from kinds)';

/** Makes a query in a client of its own, apart from the service. */
export async function query<Row>({ folder, databaseUrl }: ServedPlace, text: string): Promise<Row[]> {
  if (databaseUrl === undefined) {
    using database = openSqlite(join(folder, 'skillcell.db'));
    return database.prepare(text).all() as Row[];
  }
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    return (await client.query(text)).rows as Row[];
  } finally {
    await client.end();
  }
}

/** Reads the rows. */
export async function storedRows(place: ServedPlace): Promise<StoredRows> {
  const jobs = await query<StoredJob>(place, JOBS);
  const [stray] = await query<{ number: number | string }>(place, STRAY);
  const skills = await query<{ name: string }>(place, SKILLS);
  const [archives] = await query<{ number: number | string }>(place, STRAY_ARCHIVES);
  return {
    jobs,
    strayWords: Number(stray?.number),
    skillsWithoutArchive: skills.map(({ name }) => name),
    strayArchives: Number(archives?.number),
  };
}

/** The folders of jobs. */
export function storedFolders({ folder }: ServedPlace): string[] {
  return readdirSync(join(folder, 'jobs'));
}

/** The lines of a job's logs; undefined without a log. */
export function storedEvents({ folder }: ServedPlace, id: string): string[] | undefined {
  return logLines(join(folder, 'jobs', id));
}

/** Bytes of a file of a job; undefined without it. */
export function storedBytes({ folder }: ServedPlace, id: string, name: string): Buffer | undefined {
  const path = join(folder, 'jobs', id, name);
  return lstatSync(path, { throwIfNoEntry: false })?.isFile() === true ? readFileSync(path) : undefined;
}

/** The number of programs that have begun, by the name of their job. */
export function begunPrograms(marks: string, name: string): number {
  const path = join(marks, name);
  return existsSync(path) ? readFileSync(path, 'utf8').split('\n').length - 1 : 0;
}

function openSqlite(path: string): DatabaseSync & Disposable {
  const database = new DatabaseSync(path);
  database.exec('pragma busy_timeout = 5000');
  return Object.assign(database, { [Symbol.dispose]: () => database.close() });
}
