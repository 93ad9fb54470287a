import { setTimeout as pause } from 'node:timers/promises';
import { SkillcellError } from '../contracts/errors/skillcell-error.ts';
import type { JobResult } from '../contracts/jobs/result.ts';
import { canceledResult } from '../jobs/result/job-result.ts';
import type { Database } from '../registry/database/database.ts';
import type { JobRow } from '../registry/database/tables.ts';
import { acceptJobs, type JobAcceptance, type JobAcceptanceOptions } from './accept-jobs.ts';
import { jobEnds, type JobEnds } from './job-ends.ts';
import { jobRuns, type JobRunsOptions } from './job-runs.ts';
import type { Replica } from './replica.ts';
import { jobRows, type JobRows, type JobSummaryRow } from './rows/job-rows.ts';
import type { FiledJob } from './seams/job-files.ts';
import { sweepJobs } from './sweep-jobs.ts';

const DAY_MS: number = 24 * 60 * 60 * 1_000;
/** Time between two sweeps. */
const SWEEP_MS: number = 60 * 60 * 1_000;

/** Parts and limits of a queue. */
export interface JobQueueOptions extends JobAcceptanceOptions, Omit<JobRunsOptions, 'dispatch' | 'replica'> {
  database: Database;
  /** Most running jobs. */
  concurrency: number;
  /** Most waiting jobs of all users. */
  maxWaiting: number;
  /** Days until a finished job is removed. */
  keepDays: number;
  /** @default Date.now */
  now?: () => number;
  /** This process, if it shares the database. @default it has the database alone */
  replica?: Replica | undefined;
}

/** Pause between two looks at what other processes have done. */
export const POLL_MS = 500;

/** Jobs of many users, kept in a database: accepted once, run once, with exactly one result. */
export interface JobQueue extends Pick<JobAcceptance, 'submit' | 'rerun'>, Pick<JobEnds, 'wait'>, AsyncDisposable {
  rows: JobRows;
  /** Cancels a job. @returns false if it has ended already */
  cancel(row: Pick<JobRow, 'id' | 'kind' | 'attempt'>, reason: string): Promise<boolean>;
  /** Brings the log of a finished job here, and adds its last event if a crash has prevented it. */
  complete(row: FiledJob): Promise<void>;
  /**
   * The row of a job once any process has claimed it; undefined if it was deleted. A process that has the database alone gives the row as it is:
   * the log of the job tells the rest.
   */
  begun(row: JobSummaryRow, signal: AbortSignal): Promise<JobSummaryRow | undefined>;
  /**
   * Where the process that runs a job is reached; undefined if its files are read here.
   *
   * @throws SkillcellError `service.unavailable` if that process is dead
   */
  addressOf(row: FiledJob): Promise<string | undefined>;
  /** Deletes a finished job with its files; false if it is not finished. */
  remove(id: string): Promise<boolean>;
  /** Whether new jobs are refused. */
  readonly isEnding: boolean;
  /** Ends the queue: no new jobs, and running ones have this time until they are canceled. */
  close(drainMs?: number): Promise<void>;
}

/** Opens the queue: jobs of a dead process begin again where they may, and waiting ones go on. */
export async function openJobQueue(options: JobQueueOptions): Promise<JobQueue> {
  const { database, files, log, dispatch, logger, replica, now = Date.now } = options;
  const rows = jobRows(database, { maxWaiting: options.maxWaiting, now, owner: replica?.id });
  const acceptance = acceptJobs(rows, options);
  const ends = jobEnds(rows, log, { pollMs: replica === undefined ? undefined : POLL_MS });
  const runs = jobRuns(rows, ends, options);
  const isElsewhere = ({ state, owner }: Pick<JobSummaryRow, 'state' | 'owner'>): boolean =>
    state !== 'waiting' && owner !== (replica?.id ?? null);
  const sweep = (): Promise<void> =>
    sweepJobs(rows, files, { before: now() - options.keepDays * DAY_MS, accepting: acceptance.accepting });
  let closed: Promise<void> | undefined;

  type CanceledJob = Parameters<JobQueue['cancel']>[0];
  const cancelWaiting = async ({ id, kind, attempt }: CanceledJob, reason: string): Promise<boolean> => {
    // A job that waits again has had attempts.
    const result = canceledResult({ jobId: id, kind, attempt: Math.max(1, attempt) }, reason);
    const canceled = await rows.cancelWaiting(id, result);
    if (canceled !== undefined) await ends.tell(canceled, result);
    return canceled !== undefined;
  };
  const cancelRunning = async ({ id }: CanceledJob, reason: string): Promise<boolean> => {
    // In its row first: a process that takes the job up must not run it.
    if (!(await rows.cancelRunning(id, reason))) return false;
    dispatch.cancel(id, reason);
    const row = await rows.summary(id);
    if (row?.state !== 'running' || isElsewhere(row)) runs.forget(id);
    return true;
  };

  const queue: JobQueue = {
    rows,
    submit: acceptance.submit,
    rerun: acceptance.rerun,
    wait: ends.wait,
    get isEnding() {
      return closed !== undefined;
    },
    async cancel(job, reason) {
      let row: JobSummaryRow | undefined;
      do {
        if ((await cancelWaiting(job, reason)) || (await cancelRunning(job, reason))) return true;
        row = await rows.summary(job.id);
        // Between the two, another process may have let it wait again.
      } while (row !== undefined && row.state !== 'finished');
      return false;
    },
    async complete(row) {
      const { id, state } = row;
      if (state !== 'finished') return;
      await files.bringLogs(row);
      if (await ends.isSealed(id)) return;
      const result = (await rows.get(id))?.result ?? null;
      if (result !== null) await ends.seal(row, JSON.parse(result) as JobResult);
    },
    async begun(given, signal) {
      let row: JobSummaryRow | undefined = given;
      while (replica !== undefined && row?.state === 'waiting') {
        await pause(POLL_MS, undefined, { signal });
        row = await rows.summary(given.id);
      }
      return row;
    },
    async addressOf(row) {
      if (!isElsewhere(row)) return undefined;
      // The files of an earlier attempt on this host are not those of the job.
      await runs.giveUp(row);
      if (row.state !== 'running') return undefined;
      const address = row.owner === null ? undefined : await replica?.addressOf(row.owner);
      if (address !== undefined) return address;
      throw new SkillcellError('service.unavailable', 'Cannot reach the job: the process that ran it is gone.', {
        hint: 'Try again: another process takes the job up.',
      });
    },
    async remove(id) {
      const isRemoved = await rows.remove(id);
      if (isRemoved) await files.remove(id);
      return isRemoved;
    },
    close(drainMs = 0) {
      const close = async (): Promise<void> => {
        acceptance.stop();
        runs.stop();
        clearInterval(sweeping);
        const timer = setTimeout(() => runs.cancelAll('the service ends'), drainMs);
        await dispatch.stop();
        clearTimeout(timer);
        clearInterval(following);
        await replica?.leave();
      };
      return (closed ??= close());
    },
    [Symbol.asyncDispose]: () => queue.close(),
  };

  /** Does work, unless it is under way. */
  const quietly = (work: () => Promise<void>): (() => void) => {
    let isUnderWay = false;
    return () => {
      if (isUnderWay) return;
      isUnderWay = true;
      const failed = (err: unknown): void =>
        logger.warn({ reason: String(err) }, 'the jobs of other processes were not seen');
      void work()
        .catch(failed)
        .finally(() => (isUnderWay = false));
    };
  };
  if (replica === undefined) await runs.takeUpAbandoned();
  replica?.follow({ giveUp: () => runs.followRows(), takeUp: quietly(() => runs.takeUpAbandoned()) });
  const following =
    replica === undefined
      ? undefined
      : setInterval(
          quietly(() => runs.followRows()),
          POLL_MS,
        ).unref();
  await sweep();
  const sweeping = setInterval(
    () => void sweep().catch((err: unknown) => logger.warn({ reason: String(err) }, 'old jobs could not be removed')),
    SWEEP_MS,
  ).unref();
  dispatch.run(runs, options.concurrency);
  return queue;
}
