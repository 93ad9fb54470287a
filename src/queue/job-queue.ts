import { createHash, randomUUID } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Selectable } from 'kysely';
import { SkillcellError } from '../contracts/errors/skillcell-error.ts';
import type { JobResult } from '../contracts/jobs/result.ts';
import { checkRequest } from '../jobs/request/job-schema.ts';
import { jobResult, lostResult, withReasons } from '../jobs/result/job-result.ts';
import type { Database } from '../registry/database/database.ts';
import type { JobRow } from '../registry/database/tables.ts';
import type { JobRequest, ResolvedRequest, StoredRequest } from './request/job-request.ts';
import { storeRequest } from './request/store-request.ts';
import { type Attempt, jobRows, type JobRows, type NewJob } from './rows/job-rows.ts';
import { orchestratorJob, runQueuedJob, type QueuedEnd, type StartJob } from './run-queued-job.ts';
import { createTurns } from './seams/turns.ts';
import type { JobDispatch } from './seams/job-dispatch.ts';
import type { JobFiles, JobInput } from './seams/job-files.ts';
import type { JobLog } from './seams/job-log.ts';

/** Pause before a query that the database did not answer is made again. */
const PAUSE_MS = 500;
const DAY_MS: number = 24 * 60 * 60 * 1_000;
/** Ids that one query compares with the rows. */
const IDS_AT_ONCE = 500;
/** Time between two sweeps. */
const SWEEP_MS: number = 60 * 60 * 1_000;

/** Parts and limits of a queue. */
export interface JobQueueOptions {
  database: Database;
  files: JobFiles;
  log: JobLog;
  dispatch: JobDispatch;
  start: StartJob;
  /** Replaces the names in a request by ids, which mean the same later. */
  resolve(request: JobRequest, userId: number): Promise<ResolvedRequest>;
  /** Most running jobs. */
  concurrency: number;
  /** Most waiting jobs of all users. */
  maxWaiting: number;
  /** Days until a finished job is removed. */
  keepDays: number;
  logger: Logger;
  /** @default Date.now */
  now?: () => number;
}

/** A submitted job. */
export interface Submission {
  userId: number;
  request: JobRequest;
  /** Further input files, by destination: the parts of a form. */
  uploads?: readonly ({ destination: string } & JobInput)[];
  /** The idempotency key. */
  key?: string | undefined;
}

/** Jobs of many users, kept in a database: accepted once, run once, with exactly one result. */
export interface JobQueue extends AsyncDisposable {
  rows: JobRows;
  /**
   * Accepts a job. It is on the disk when this resolves.
   *
   * @throws SkillcellError `job.invalid`, `quota.exceeded`, `idempotency.mismatch`, `service.unavailable` during the end of the service
   */
  submit(submission: Submission): Promise<{ row: Selectable<JobRow>; isNew: boolean }>;
  /** Submits the same job anew, with the same files and the present skills. */
  rerun(row: Selectable<JobRow>, userId: number): Promise<Selectable<JobRow>>;
  /** Cancels a job. @returns false if it has ended already */
  cancel(row: Selectable<JobRow>, reason: string): Promise<boolean>;
  /** The row of a job at its end, or after a time. */
  wait(id: string, ms: number, signal: AbortSignal): Promise<Selectable<JobRow> | undefined>;
  /** Adds the last event to the log of a finished job if a crash has prevented it. */
  complete(row: Selectable<JobRow>): Promise<void>;
  /** Deletes a finished job with its files; false if it is not finished. */
  remove(id: string): Promise<boolean>;
  /** Whether new jobs are refused. */
  readonly isEnding: boolean;
  /** Ends the queue: no new jobs, and running ones have this time until they are canceled. */
  close(drainMs?: number): Promise<void>;
}

/** Opens the queue: jobs of a dead process end as lost, and waiting ones go on. */
export async function openJobQueue(options: JobQueueOptions): Promise<JobQueue> {
  const { database, files, log, dispatch, logger, now = Date.now } = options;
  const rows = jobRows(database, options.maxWaiting, now);
  const ends = new EventEmitter().setMaxListeners(0);
  const running = new Map<string, AbortController>();
  /** Cancellations of jobs that are claimed, and do not run yet. */
  const early = new Map<string, string>();
  /** Jobs that have files, and not yet a row. */
  const accepting = new Set<string>();
  /** Aborts the jobs that run when the time for the end of the service is over. */
  const overtime = new AbortController();
  const inTurn = createTurns();
  let closed: Promise<void> | undefined;

  /** A change of a running job is made as soon as the database answers again. */
  const persistently = async <Result>(query: () => Promise<Result>): Promise<Result> => {
    for (;;) {
      try {
        return await query();
      } catch (error) {
        if (!SkillcellError.isInstance(error) || error.code !== 'database.unavailable') throw error;
        await sleep(PAUSE_MS);
      }
    }
  };

  /** Writes the last event of a job that has ended, once. */
  const seal = (id: string, result: JobResult): Promise<void> =>
    inTurn(id, async () => {
      const last = await log.last(id);
      if (last === undefined || !isLastEvent(last.line)) {
        await log.append(id, [JSON.stringify({ type: 'finished', jobId: id, result })]);
      }
      await log.release(id);
    });

  /** A claim without an answer may have been made: its job is then taken up. */
  const claim = async (): Promise<Selectable<JobRow> | undefined> => {
    let isUnsure = false;
    return await persistently(async () => {
      if (closed !== undefined) return undefined;
      const [lost] = isUnsure ? (await rows.abandoned()).filter(({ id }) => !running.has(id)) : [];
      isUnsure = true;
      return lost ?? (await rows.claim());
    });
  };

  /** Records an end, and then tells it. */
  const end = async ({ id, attempt }: Attempt, { result, errorCode }: QueuedEnd): Promise<void> => {
    const isFirst = await persistently(() => rows.finish({ id, attempt }, result, errorCode));
    ends.emit(id);
    if (isFirst) await seal(id, result);
  };

  /** The skills of a user are in the database, too. */
  const start: StartJob = (...given) => persistently(async () => options.start(...given));

  const run = async (row: Selectable<JobRow>): Promise<void> => {
    const { id, user_id: userId, attempt } = row;
    const cancellation = new AbortController();
    running.set(id, cancellation);
    if (early.has(id)) cancellation.abort(early.get(id));
    early.delete(id);
    const signal = AbortSignal.any([cancellation.signal, overtime.signal]);
    try {
      const request = JSON.parse(row.request) as StoredRequest;
      const ended = await runQueuedJob({ id, userId, attempt, request }, { files, log, start, signal });
      await end(row, ended);
    } catch (error) {
      logger.error({ reason: String(error), jobId: id }, 'a job could not be run to its end');
      const result = lostResult({ jobId: id, kind: row.kind, attempt }, 'internal.fault', 'The service failed.');
      await end(row, { result, errorCode: 'internal.fault' }).catch((err: unknown) =>
        logger.error({ reason: String(err), jobId: id }, 'the end of a job could not be recorded'),
      );
    } finally {
      running.delete(id);
    }
  };

  const accept = async (
    request: StoredRequest,
    inputs: readonly JobInput[],
    {
      userId,
      key,
      rerunOf,
      requestHash,
    }: Pick<NewJob, 'userId' | 'requestHash'> & { key?: string | undefined; rerunOf?: string },
  ): Promise<{ row: Selectable<JobRow>; isNew: boolean }> => {
    if (closed !== undefined) throw ending();
    const id = randomUUID();
    checkRequest(orchestratorJob(id, request, files));
    accepting.add(id);
    try {
      await files.create(id, inputs);
      // One after the other, so that jobs that come at once do not exceed the limit together.
      const inserted = await inTurn('insert', () =>
        rows.insert({
          id,
          userId,
          request,
          requestHash,
          key: key ?? null,
          rerunOf: rerunOf ?? null,
        }),
      );
      if (inserted.isNew) dispatch.enqueue(id);
      else await files.remove(id);
      return inserted;
    } catch (error) {
      // Without an answer of the database, the row may be there: then the job runs, or else a sweep removes its files.
      if (SkillcellError.isInstance(error) && error.code === 'database.unavailable') dispatch.enqueue(id);
      else await files.remove(id);
      throw error;
    } finally {
      accepting.delete(id);
    }
  };

  /** Removes old jobs, and folders without a row. */
  const sweep = async (): Promise<void> => {
    const ids = (await files.ids()).filter((id) => !accepting.has(id));
    for (let at = 0; at < ids.length; at += IDS_AT_ONCE) {
      const some = ids.slice(at, at + IDS_AT_ONCE);
      const known = await rows.known(some);
      for (const id of some) if (!known.has(id)) await files.remove(id);
    }
    for (;;) {
      const old = await rows.removeBefore(now() - options.keepDays * DAY_MS);
      for (const id of old) await files.remove(id);
      if (old.length === 0) return;
    }
  };
  const cancelRunning = (id: string, reason: string): void => {
    const cancellation = running.get(id);
    if (cancellation === undefined) early.set(id, reason);
    else cancellation.abort(reason);
  };

  const queue: JobQueue = {
    rows,
    get isEnding() {
      return closed !== undefined;
    },
    async submit({ userId, request, uploads = [], key }) {
      // The hash is that of the job as the client wrote it.
      const hashed = hashOf(storeRequest(request, uploads).request);
      const resolved = await options.resolve(request, userId).catch(async (error: unknown) => {
        // A repeated request gets its job, also if a name in it means nothing any more.
        const row = key === undefined ? undefined : await rows.withKey(userId, key, hashed);
        if (row === undefined) throw error;
        return { row, isNew: false };
      });
      if ('row' in resolved) return resolved;
      const stored = storeRequest(resolved, uploads);
      return await accept(stored.request, stored.inputs, { userId, key, requestHash: hashed });
    },
    async rerun(row, userId) {
      const request = JSON.parse(row.request) as StoredRequest;
      const inputs = await readInputs(files, row.id, request);
      const again = { ...request, job: await options.resolve(request.job, userId) };
      return (await accept(again, inputs, { userId, rerunOf: row.id, requestHash: row.request_hash })).row;
    },
    async cancel(row, reason) {
      const { id, kind } = row;
      const accepted = { jobId: id, kind, attempt: 1 };
      const result = withReasons(jobResult({ accepted, ended: { outcome: 'canceled' } }), [reason]);
      if (await rows.cancelWaiting(id, result)) {
        ends.emit(id);
        await seal(id, result);
        return true;
      }
      if ((await rows.get(id))?.state !== 'running') return false;
      dispatch.cancel(id, reason);
      if ((await rows.get(id))?.state !== 'running') early.delete(id);
      return true;
    },
    async wait(id, ms, signal) {
      const left = new AbortController();
      const over = AbortSignal.any([AbortSignal.timeout(ms), signal, left.signal]);
      try {
        for (;;) {
          // Listen first: an end during the query is not missed.
          const ended = once(ends, id, { signal: over }).catch(() => undefined);
          const row = await rows.get(id);
          if (row === undefined || row.state === 'finished' || over.aborted) return row;
          await ended;
        }
      } finally {
        left.abort();
      }
    },
    async complete({ id, result }) {
      if (result !== null) await seal(id, JSON.parse(result) as JobResult);
    },
    async remove(id) {
      const isRemoved = await rows.remove(id);
      if (isRemoved) await files.remove(id);
      return isRemoved;
    },
    close(drainMs = 0) {
      const close = async (): Promise<void> => {
        clearInterval(sweeping);
        const timer = setTimeout(() => overtime.abort('the service ends'), drainMs);
        await dispatch.stop();
        clearTimeout(timer);
      };
      return (closed ??= close());
    },
    [Symbol.asyncDispose]: () => queue.close(),
  };

  for (const row of await rows.abandoned()) {
    logger.warn({ jobId: row.id }, 'a job of a dead process is recorded as lost');
    await end(row, {
      result: lostResult({ jobId: row.id, kind: row.kind, attempt: row.attempt }),
      errorCode: 'job.host-lost',
    });
  }
  await sweep();
  const sweeping = setInterval(
    () => void sweep().catch((err: unknown) => logger.warn({ reason: String(err) }, 'old jobs could not be removed')),
    SWEEP_MS,
  ).unref();
  dispatch.run(
    {
      async claim() {
        try {
          const row = await claim();
          return row === undefined ? undefined : { ended: run(row) };
        } catch (error) {
          logger.error({ reason: String(error) }, 'no job could be claimed');
          return undefined;
        }
      },
      cancel: cancelRunning,
    },
    options.concurrency,
  );
  return queue;
}

function hashOf(request: StoredRequest): string {
  return createHash('sha256').update(JSON.stringify(request)).digest('hex');
}

/** Whether an event is the last one of its job. */
export function isLastEvent(line: string): boolean {
  return line.startsWith('{"type":"finished"');
}

async function readInputs(files: JobFiles, id: string, { files: stored, stdin }: StoredRequest): Promise<JobInput[]> {
  const inputs: JobInput[] = [];
  for (let number = 0; number < stored.length + (stdin === null ? 0 : 1); number += 1) {
    const name = `in/${number}`;
    const size = await files.size(id, name);
    if (size === undefined)
      throw new SkillcellError('file.unreadable', 'Cannot run the job again: its files are gone.');
    const pieces = await files.read(id, name, { start: 0, end: size }).toArray();
    inputs.push({ bytes: Buffer.concat(pieces as Buffer[]), executable: stored[number]?.executable ?? false });
  }
  return inputs;
}

function ending(): SkillcellError {
  return new SkillcellError('service.unavailable', 'Cannot accept the job: the service is ending.');
}
