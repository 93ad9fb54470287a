import type { Logger } from 'pino';
import type { Selectable } from 'kysely';
import { lostResult } from '../jobs/result/job-result.ts';
import type { JobRow } from '../registry/database/tables.ts';
import type { JobEnds } from './job-ends.ts';
import { persistently } from './persistently.ts';
import type { StoredRequest } from './request/job-request.ts';
import type { JobRows } from './rows/job-rows.ts';
import { runQueuedJob, type StartJob } from './run-queued-job.ts';
import type { JobWork } from './seams/job-dispatch.ts';
import type { JobFiles } from './seams/job-files.ts';
import type { JobLog } from './seams/job-log.ts';

/** Parts that run jobs. */
export interface JobRunsOptions {
  files: JobFiles;
  log: JobLog;
  start: StartJob;
  logger: Logger;
}

/** The jobs that run in this process. */
export interface JobRuns extends JobWork {
  /** Ends the jobs of a dead process as lost. Call it before the first claim. */
  endAbandoned(): Promise<void>;
  /** Forgets the cancellation of a job that no longer runs. */
  forget(id: string): void;
  /** No further job is claimed. */
  stop(): void;
  /** Cancels all running jobs. */
  cancelAll(reason: string): void;
}

/** Creates the runs of one queue. */
export function jobRuns(rows: JobRows, ends: JobEnds, options: JobRunsOptions): JobRuns {
  const { files, log, logger } = options;
  const running = new Map<string, AbortController>();
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
      const [lost] = isUnsure ? (await rows.abandoned()).filter(({ id }) => !running.has(id)) : [];
      isUnsure = true;
      return lost ?? (await rows.claim());
    });
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
      await ends.record(row, ended);
    } catch (error) {
      logger.error({ reason: String(error), jobId: id }, 'a job could not be run to its end');
      const result = lostResult({ jobId: id, kind: row.kind, attempt }, 'internal.fault', 'The service failed.');
      await ends
        .record(row, { result, errorCode: 'internal.fault' })
        .catch((err: unknown) =>
          logger.error({ reason: String(err), jobId: id }, 'the end of a job could not be recorded'),
        );
    } finally {
      running.delete(id);
    }
  };

  return {
    async claim() {
      try {
        const row = await claim();
        return row === undefined ? undefined : { ended: run(row) };
      } catch (error) {
        logger.error({ reason: String(error) }, 'no job could be claimed');
        return undefined;
      }
    },
    cancel(id, reason) {
      const cancellation = running.get(id);
      if (cancellation === undefined) early.set(id, reason);
      else cancellation.abort(reason);
    },
    forget: (id) => void early.delete(id),
    async endAbandoned() {
      for (const row of await rows.abandoned()) {
        logger.warn({ jobId: row.id }, 'a job of a dead process is recorded as lost');
        await ends.record(row, {
          result: lostResult({ jobId: row.id, kind: row.kind, attempt: row.attempt }),
          errorCode: 'job.host-lost',
        });
      }
    },
    stop: () => void (isStopped = true),
    cancelAll: (reason) => overtime.abort(reason),
  };
}
