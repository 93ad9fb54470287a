import type { Logger } from 'pino';
import type { Selectable } from 'kysely';
import { canceledResult, lostResult } from '../jobs/result/job-result.ts';
import type { JobEvent } from '../contracts/jobs/events.ts';
import type { JobRow } from '../registry/database/tables.ts';
import type { JobEnds } from './job-ends.ts';
import { persistently } from './persistently.ts';
import type { StoredRequest } from './request/job-request.ts';
import type { Replica } from './replica.ts';
import type { Attempt, JobRows } from './rows/job-rows.ts';
import { type QueuedEnd, runQueuedJob, type StartJob, STREAMS } from './run-queued-job.ts';
import type { JobDispatch, JobWork } from './seams/job-dispatch.ts';
import type { JobFiles } from './seams/job-files.ts';
import type { JobLog } from './seams/job-log.ts';

/** Most attempts of a job whose host dies, with those whose sandbox is lost. */
const MOST_ATTEMPTS = 3;

const TAKEN = 'another process has taken the job up';

/** Parts that run jobs. */
export interface JobRunsOptions {
  files: JobFiles;
  log: JobLog;
  start: StartJob;
  /** Is told when a job waits no more for its sandbox. */
  dispatch: Pick<JobDispatch, 'look'>;
  /** This process, if it shares the database. @default it has the database alone */
  replica?: Pick<Replica, 'id' | 'mayCall'> | undefined;
  logger: Logger;
}

/** A job that runs in this process. */
interface Run {
  /** The attempt with which it began here. */
  attempt: number;
  cancellation: AbortController;
  ended: Promise<void>;
}

/** The jobs that run in this process. */
export interface JobRuns extends JobWork {
  /** Lets the jobs of dead processes wait again, or ends them as lost. A process that has the database alone calls it before its first claim. */
  takeUpAbandoned(): Promise<void>;
  /** Cancels the jobs of this process that others have canceled or taken up. */
  followRows(): Promise<void>;
  /** Ends a run of a job that another process has taken up since. */
  giveUp(taken: Attempt): Promise<void>;
  /** Forgets the cancellation of a job that no longer runs. */
  forget(id: string): void;
  /** No further job is claimed. */
  stop(): void;
  /** Cancels all running jobs. */
  cancelAll(reason: string): void;
}

/** Creates the runs of one queue. */
export function jobRuns(rows: JobRows, ends: JobEnds, options: JobRunsOptions): JobRuns {
  const { files, log, dispatch, logger, replica } = options;
  const running = new Map<string, Run>();
  /** Jobs that wait for a sandbox. */
  const starting = new Set<string>();
  /** Cancellations of jobs that are claimed, and do not run yet. */
  const early = new Map<string, string>();
  /** Aborts the jobs that run when the time for the end of the service is over. */
  const overtime = new AbortController();
  let isStopped = false;

  /** A claim without an answer may have been made: its job is then taken up. */
  const claim = async (): Promise<Selectable<JobRow> | undefined> => {
    let isUnsure = false;
    return await persistently(async () => {
      if (isStopped) return undefined;
      const [lost] = isUnsure ? (await rows.own()).filter(({ id }) => !running.has(id)) : [];
      isUnsure = true;
      return lost ?? (await rows.claim());
    });
  };

  /** A job with a decision asks the model first, and waits for a sandbox after it. One whose sandbox is lost waits again. */
  const followStart = ({ type, jobId }: JobEvent): void => {
    if (type === 'decision' || type === 'restarted') starting.add(jobId);
    const isServed = type === 'started' || type === 'prompt';
    if (isServed && starting.delete(jobId)) dispatch.look();
  };

  /** The skills of a user are in the database, too. */
  const start: StartJob = (...given) => persistently(async () => options.start(...given));

  const lasting: Pick<JobRows, 'restart' | 'change'> = {
    restart: (current) => persistently(() => rows.restart(current)),
    change: (current, tool) => persistently(() => rows.change(current, tool)),
  };

  /** The job goes on in another process. */
  const leave = async (id: string): Promise<void> => {
    await log.release(id);
    log.leave(id);
    await files.leave(id);
  };

  /** Lets a job that the end of this process has canceled wait again; false where no other process may go on with it. */
  const handOver = async (attempt: Attempt, { result }: QueuedEnd): Promise<boolean> =>
    replica !== undefined &&
    overtime.signal.aborted &&
    result.outcome === 'canceled' &&
    (await persistently(() => rows.requeue(attempt)));

  const finish = async (attempt: Attempt, end: QueuedEnd): Promise<void> => {
    const artifacts = end.result.artifacts.map(({ path }) => `artifacts/${path}`);
    // A job without a sandbox may have no output.
    const output = end.errorCode === null ? STREAMS : [];
    await persistently(() => files.publish(attempt, [...output, ...artifacts]), 'store.unavailable');
    if (!(await ends.record(attempt, end))) await leave(attempt.id);
  };

  const run = async (row: Selectable<JobRow>, cancellation: AbortSignal): Promise<void> => {
    const { id, user_id: userId, attempt } = row;
    const signal = AbortSignal.any([cancellation, overtime.signal]);
    let last: Attempt = { id, attempt };
    try {
      const request = JSON.parse(row.request) as StoredRequest;
      const job = { id, userId, attempt, request };
      const { mayCall } = replica ?? {};
      const ended = await runQueuedJob(job, {
        files,
        log,
        start,
        rows: lasting,
        mayCall,
        onEvent: followStart,
        signal,
      });
      last = { id, attempt: ended.attempt };
      const isOver = cancellation.reason !== TAKEN && !(await handOver(last, ended));
      await (isOver ? finish(last, ended) : leave(id));
    } catch (error) {
      logger.error({ reason: String(error), jobId: id }, 'a job could not be run to its end');
      const result = lostResult(
        { jobId: id, kind: row.kind, attempt: last.attempt },
        'internal.fault',
        'The service failed.',
      );
      await ends
        .record(last, { result, errorCode: 'internal.fault' })
        .catch((err: unknown) =>
          logger.error({ reason: String(err), jobId: id }, 'the end of a job could not be recorded'),
        );
    }
  };

  const begin = (row: Selectable<JobRow>): Promise<void> => {
    const { id, attempt } = row;
    const cancellation = new AbortController();
    // An earlier attempt may still end here, after another process let the job wait again.
    const earlier = running.get(id);
    earlier?.cancellation.abort(TAKEN);
    if (early.has(id)) cancellation.abort(early.get(id));
    early.delete(id);
    const ended = (async () => {
      await earlier?.ended;
      await run(row, cancellation.signal);
      if (running.get(id)?.cancellation !== cancellation) return;
      running.delete(id);
      starting.delete(id);
    })();
    running.set(id, { attempt, cancellation, ended });
    starting.add(id);
    return ended;
  };

  return {
    async claim() {
      try {
        const row = await claim();
        return row === undefined ? undefined : { ended: begin(row) };
      } catch (error) {
        logger.error({ reason: String(error) }, 'no job could be claimed');
        return undefined;
      }
    },
    get starting() {
      return starting.size;
    },
    cancel(id, reason) {
      const run = running.get(id);
      if (run === undefined) early.set(id, reason);
      else run.cancellation.abort(reason);
    },
    async giveUp({ id, attempt }) {
      const run = running.get(id);
      if (run === undefined || run.attempt >= attempt) return;
      run.cancellation.abort(TAKEN);
      await run.ended;
    },
    forget: (id) => void early.delete(id),
    async takeUpAbandoned() {
      for (const row of await rows.abandoned()) {
        const end = endOfAbandoned(row);
        logger.warn(
          { jobId: row.id, errorCode: end?.errorCode },
          `a job of a dead process ${end ? 'ends' : 'waits again'}`,
        );
        if (end === undefined) await rows.requeue(row);
        else await ends.record(row, end);
      }
    },
    async followRows() {
      const before = [...running];
      const wishes = new Map((await rows.ownWishes()).map((row) => [row.id, row.cancel_reason]));
      for (const [id, run] of before) {
        const reason = wishes.has(id) ? wishes.get(id) : TAKEN;
        // It may have ended meanwhile.
        if (typeof reason === 'string' && running.get(id) === run) run.cancellation.abort(reason);
      }
    },
    stop: () => void (isStopped = true),
    cancelAll: (reason) => overtime.abort(reason),
  };
}

/** The end of a job of a dead process; undefined if it may begin again. */
function endOfAbandoned(row: Selectable<JobRow>): QueuedEnd | undefined {
  const { id: jobId, kind, attempt, changed_by: changedBy, cancel_reason: canceled } = row;
  const accepted = { jobId, kind, attempt };
  if (canceled !== null) return { result: canceledResult(accepted, canceled), errorCode: null };
  if (changedBy === null && attempt < MOST_ATTEMPTS) return undefined;
  const why = changedBy === null ? `attempt ${attempt} was its last` : `a call of ${changedBy} had begun`;
  const message = `The host ended before the job did. It is not started again, as ${why}.`;
  return { result: lostResult(accepted, 'job.host-lost', message), errorCode: 'job.host-lost' };
}
