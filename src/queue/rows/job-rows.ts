import {
  type DeleteQueryBuilder,
  type DeleteResult,
  type QueryCreator,
  type RawBuilder,
  type Selectable,
  sql,
  type UpdateQueryBuilder,
  type UpdateResult,
} from 'kysely';
import { SkillcellError } from '../../contracts/errors/skillcell-error.ts';
import type { JobResult } from '../../contracts/jobs/result.ts';
import type { Database } from '../../registry/database/database.ts';
import type { JobRow, Tables } from '../../registry/database/tables.ts';
import { buryReplicas } from './replica-rows.ts';
import { shownWords } from './search-words.ts';
import type { StoredRequest } from '../request/job-request.ts';

/** A new job. */
export interface NewJob {
  id: string;
  userId: number;
  request: StoredRequest;
  /** SHA-256 of the request, in hex. */
  requestHash: string;
  key: string | null;
  rerunOf: string | null;
}

/** A row without its bodies, which may be large. */
export type JobSummaryRow = Omit<Selectable<JobRow>, 'request' | 'result' | 'changed_by' | 'cancel_reason'>;

/** The columns of {@link JobSummaryRow}. */
export const SUMMARY_COLUMNS: readonly (keyof JobSummaryRow)[] = [
  ...(['seq', 'id', 'user_id', 'kind', 'state', 'outcome', 'error_code', 'label', 'attempt'] as const),
  ...(['rerun_of', 'created_at', 'started_at', 'finished_at', 'idempotency_key', 'request_hash', 'owner'] as const),
];

/** A row without the request. */
export type JobRowAtEnd = JobSummaryRow & Pick<JobRow, 'result'>;

/** One attempt of a job, which may change the row while it runs. */
export type Attempt = Pick<JobRow, 'id' | 'attempt'>;

/** The rows of jobs. Each change is one statement with its condition, so that of two changes one wins. */
export interface JobRows {
  /**
   * Inserts a job.
   *
   * @returns the row, and whether it is new: an idempotency key may have one already
   * @throws SkillcellError `quota.exceeded`, `idempotency.mismatch`
   */
  insert(job: NewJob): Promise<{ row: Selectable<JobRow>; isNew: boolean }>;
  /** The job that an idempotency key has already. @throws SkillcellError `idempotency.mismatch` */
  withKey(userId: number, key: string, requestHash: string): Promise<Selectable<JobRow> | undefined>;
  /** Claims the oldest job of the user with the fewest running jobs. */
  claim(): Promise<Selectable<JobRow> | undefined>;
  /** Ends an attempt, and returns its row; undefined if it has ended otherwise. The same end may be recorded again. */
  finish(attempt: Attempt, result: JobResult, errorCode: string | null): Promise<JobRowAtEnd | undefined>;
  /** Ends a waiting job, and returns its last attempt, 0 before the first; undefined if it does not wait. */
  cancelWaiting(id: string, result: JobResult): Promise<Attempt | undefined>;
  /** Counts a further attempt of a running job; false if the attempt has ended. */
  restart(attempt: Attempt): Promise<boolean>;
  /** Notes the tool by which a running attempt may change something; false if the attempt has ended. */
  change(attempt: Attempt, tool: string): Promise<boolean>;
  /** Lets a running job wait again; false if it has ended, is to be canceled, or may have changed something. */
  requeue(attempt: Attempt): Promise<boolean>;
  /** Notes that a running job is to end; false if it does not run. */
  cancelRunning(id: string, reason: string): Promise<boolean>;
  /** Takes the jobs of dead processes from them, and returns all that no living process runs. */
  abandoned(): Promise<Selectable<JobRow>[]>;
  /** Running jobs of this process, as far as the rows say. */
  own(): Promise<Selectable<JobRow>[]>;
  /** The same without the bodies, but with the wish to cancel. */
  ownWishes(): Promise<Pick<JobRow, 'id' | 'cancel_reason'>[]>;
  get(id: string): Promise<Selectable<JobRow> | undefined>;
  /** The same without the bodies. */
  summary(id: string): Promise<JobSummaryRow | undefined>;
  /** Deletes a finished job; false if it is not finished, or missing. */
  remove(id: string): Promise<boolean>;
  /** Deletes jobs that finished before a time, a hundred at most, and returns their ids. */
  removeBefore(time: number): Promise<string[]>;
  /** Those of the ids that have a row. */
  known(ids: readonly string[]): Promise<Set<string>>;
}

/** Options of {@link jobRows}. */
export interface JobRowsOptions {
  /** Most waiting jobs of all users. */
  maxWaiting: number;
  now: () => number;
  /** The replica of this process; undefined if it has the database alone. */
  owner?: string | undefined;
}

/** The rows of jobs in a database. */
export function jobRows({ db, system, storedWords }: Database, { maxWaiting, now, owner }: JobRowsOptions): JobRows {
  const running = db.selectFrom('jobs').where('state', '=', 'running');
  const own = owner === undefined ? running : running.where('owner', '=', owner);
  const get: JobRows['get'] = (id) => db.selectFrom('jobs').selectAll().where('id', '=', id).executeTakeFirst();

  const withKey: JobRows['withKey'] = async (userId, key, requestHash) => {
    const row = await db
      .selectFrom('jobs')
      .selectAll()
      .where('user_id', '=', userId)
      .where('idempotency_key', '=', key)
      .executeTakeFirst();
    if (row === undefined || row.request_hash === requestHash) return row;
    throw new SkillcellError(
      'idempotency.mismatch',
      'Cannot accept the job: its idempotency key belongs to another job.',
    );
  };

  const inserted = async (job: NewJob): Promise<Selectable<JobRow> | undefined> => {
    const { request } = job;
    const values = {
      id: job.id,
      user_id: job.userId,
      kind: request.job.kind,
      label: request.job.label ?? null,
      rerun_of: job.rerunOf,
      idempotency_key: job.key,
      request_hash: job.requestHash,
      created_at: now(),
      request: JSON.stringify(request),
    };
    const columns = Object.keys(values) as (keyof typeof values)[];
    const insertion = (open: QueryCreator<Tables>) =>
      open
        .insertInto('jobs')
        .columns([...columns, 'state', 'attempt'])
        .expression(
          db
            .selectNoFrom([
              ...columns.map((name) => typed(values[name]).as(name)),
              sql<string>`'waiting'`.as('state'),
              sql<number>`0`.as('attempt'),
            ])
            .where(sql`(select count(*) from jobs where state = 'waiting')`, '<', maxWaiting),
        )
        .onConflict((conflict) => conflict.columns(['user_id', 'idempotency_key']).doNothing())
        .returningAll();
    const words = storedWords(shownWords(job.id, request));
    const wordsInsertion = (open: QueryCreator<Tables & { row: Pick<Selectable<JobRow>, 'seq'> }>) =>
      open
        .insertInto('job_words')
        .columns(['rowid', 'words'])
        .expression(open.selectFrom('row').select(['seq', words.as('words')]));
    if (system === 'postgres') {
      // One round trip instead of four.
      const both = db.with('row', insertion).with('written', wordsInsertion);
      return await both.selectFrom('row').selectAll().executeTakeFirst();
    }
    return await db.transaction().execute(async (open) => {
      const row = await insertion(open).executeTakeFirst();
      if (row !== undefined) {
        await open.insertInto('job_words').values({ rowid: row.seq, words }).execute();
      }
      return row;
    });
  };

  return {
    get,
    withKey,
    summary: (id) => db.selectFrom('jobs').select(SUMMARY_COLUMNS).where('id', '=', id).executeTakeFirst(),
    async insert(job) {
      const row = await inserted(job);
      if (row !== undefined) return { row, isNew: true };
      const known = job.key === null ? undefined : await withKey(job.userId, job.key, job.requestHash);
      if (known !== undefined) return { row: known, isNew: false };
      throw new SkillcellError('quota.exceeded', `Cannot accept the job: ${maxWaiting} jobs wait already.`);
    },
    async claim() {
      const { rows } = await claimStatement(system, { time: now(), owner }).execute(db);
      return rows[0];
    },
    async finish(attempt, result, errorCode) {
      const change = ended(result, now());
      const { result: text } = change;
      const row =
        (await updateRunning(attempt)
          // The files of the end are those of this process.
          .set({ ...change, error_code: errorCode, owner: owner ?? null })
          .returning(SUMMARY_COLUMNS)
          .executeTakeFirst()) ??
        // An earlier try may have had no answer.
        (await db
          .selectFrom('jobs')
          .select(SUMMARY_COLUMNS)
          .where((is) => is.and({ id: attempt.id, attempt: attempt.attempt, state: 'finished', result: text }))
          .executeTakeFirst());
      return row === undefined ? undefined : { ...row, result: text };
    },
    async restart(attempt) {
      const { numUpdatedRows } = await updateRunning(attempt)
        .set({ attempt: attempt.attempt + 1 })
        .executeTakeFirst();
      return numUpdatedRows > 0n;
    },
    async change(attempt, tool) {
      const { numUpdatedRows } = await updateRunning(attempt).set({ changed_by: tool }).executeTakeFirst();
      return numUpdatedRows > 0n;
    },
    async requeue(attempt) {
      const { numUpdatedRows } = await updateRunning(attempt)
        .set({ state: 'waiting', owner: null })
        .where('changed_by', 'is', null)
        .where('cancel_reason', 'is', null)
        .executeTakeFirst();
      return numUpdatedRows > 0n;
    },
    cancelWaiting: (id, result) =>
      db
        .updateTable('jobs')
        .set(ended(result, now()))
        .where('id', '=', id)
        .where('state', '=', 'waiting')
        .returning(['id', 'attempt'])
        .executeTakeFirst(),
    async cancelRunning(id, reason) {
      const { numUpdatedRows } = await db
        .updateTable('jobs')
        .set({ cancel_reason: reason })
        .where('id', '=', id)
        .where('state', '=', 'running')
        .executeTakeFirst();
      return numUpdatedRows > 0n;
    },
    async abandoned() {
      if (owner === undefined) return await running.selectAll().execute();
      await buryReplicas(db);
      return await running.where('owner', 'is', null).selectAll().execute();
    },
    own: () => own.selectAll().execute(),
    ownWishes: () => own.select(['id', 'cancel_reason']).execute(),
    async remove(id) {
      return (await removed((jobs) => jobs.where('id', '=', id))).length > 0;
    },
    async removeBefore(time) {
      const old = db.selectFrom('jobs').select('id').where('finished_at', '<', time).limit(100);
      return await removed((jobs) => jobs.where('id', 'in', old));
    },
    async known(ids) {
      if (ids.length === 0) return new Set();
      const rows = await db.selectFrom('jobs').select('id').where('id', 'in', ids).execute();
      return new Set(rows.map(({ id }) => id));
    },
  };

  /** Changes the row of an attempt while it runs. */
  function updateRunning({ id, attempt }: Attempt): UpdateQueryBuilder<Tables, 'jobs', 'jobs', UpdateResult> {
    return db.updateTable('jobs').where('id', '=', id).where('attempt', '=', attempt).where('state', '=', 'running');
  }

  /** Deletes finished jobs with their words, and returns the ids. */
  async function removed(choose: (jobs: JobDeletion) => JobDeletion): Promise<string[]> {
    return await db.transaction().execute(async (open) => {
      const rows = await choose(open.deleteFrom('jobs'))
        .where('state', '=', 'finished')
        .returning(['id', 'seq'])
        .execute();
      const seqs = rows.map(({ seq }) => seq);
      if (seqs.length > 0) await open.deleteFrom('job_words').where('rowid', 'in', seqs).execute();
      return rows.map(({ id }) => id);
    });
  }
}

/** Finds the oldest waiting job of each user, and takes that of the user with the fewest running jobs in `ranked`. */
interface ClaimParts {
  oldest: RawBuilder<unknown>;
  next: RawBuilder<unknown>;
}

const IN_SQLITE: ClaimParts = {
  oldest: sql`
    users (user_id) as (
      select min(user_id) from jobs where state = 'waiting'
      union all
      select (select min(user_id) from jobs where state = 'waiting' and user_id > users.user_id)
      from users where users.user_id is not null
    ),
    oldest (user_id, seq) as (
      select user_id, (select min(seq) from jobs where state = 'waiting' and user_id = users.user_id)
      from users where user_id is not null
    )`,
  // One process writes.
  next: sql`select id from jobs where seq = (select seq from ranked order by running, seq limit 1)`,
};

/** A job that another connection claims or cancels at the same time is passed over. */
const IN_POSTGRES: ClaimParts = {
  oldest: sql`
    oldest (user_id, seq) as (
      (select user_id, seq from jobs where state = 'waiting' order by user_id, seq limit 1)
      union all
      select next.user_id, next.seq from oldest cross join lateral (
        select user_id, seq from jobs where state = 'waiting' and user_id > oldest.user_id order by user_id, seq limit 1
      ) as next
    )`,
  next: sql`
    select job.id from (select user_id from ranked order by running, seq) as next cross join lateral (
      select id from jobs where state = 'waiting' and user_id = next.user_id order by seq limit 1 for update skip locked
    ) as job limit 1`,
};

/**
 * Sets the next job to running. Each user with waiting jobs is found by one step in the index, so that the time grows with the users and not with
 * the jobs.
 */
function claimStatement(
  system: Database['system'],
  { time, owner }: { time: number; owner: string | undefined },
): RawBuilder<Selectable<JobRow>> {
  const { oldest, next } = system === 'sqlite' ? IN_SQLITE : IN_POSTGRES;
  // A replica that others have counted as dead would lose the job at once.
  const known = owner === undefined ? sql`` : sql`and exists (select 1 from replicas where id = ${owner})`;
  return sql<Selectable<JobRow>>`
    with recursive ${oldest},
    busy as (select user_id, count(*) as jobs from jobs where state = 'running' group by user_id),
    ranked as (
      select oldest.user_id, oldest.seq, coalesce(busy.jobs, 0) as running
      from oldest left join busy on busy.user_id = oldest.user_id
    )
    update jobs set state = 'running', started_at = ${time}, attempt = attempt + 1, owner = ${owner ?? null}
    where id = (${next}) and state = 'waiting' ${known}
    returning *`;
}

type JobDeletion = DeleteQueryBuilder<Tables, 'jobs', DeleteResult>;

function ended(result: JobResult, finishedAt: number): Pick<JobRow, 'state' | 'outcome' | 'finished_at' | 'result'> {
  return { state: 'finished', outcome: result.outcome, finished_at: finishedAt, result: JSON.stringify(result) };
}

/** A value of a select list: PostgreSQL cannot know the type of a bare parameter there. */
function typed(value: string | number | null): ReturnType<typeof sql<never>> {
  return typeof value === 'number' ? sql<never>`cast(${value} as bigint)` : sql<never>`cast(${value} as text)`;
}
