import { EventEmitter, once } from 'node:events';
import type { Selectable } from 'kysely';
import type { JobResult } from '../contracts/jobs/result.ts';
import type { JobRow } from '../registry/database/tables.ts';
import { persistently } from './persistently.ts';
import type { Attempt, JobRows } from './rows/job-rows.ts';
import type { QueuedEnd } from './run-queued-job.ts';
import type { JobLog } from './seams/job-log.ts';
import { createTurns } from './seams/turns.ts';

/** The ends of jobs: each is recorded in its row first, then told to those who wait, then written to its log. */
export interface JobEnds {
  /** Records the end of an attempt, and tells it. Only the first end of an attempt counts. */
  record(attempt: Attempt, end: QueuedEnd): Promise<void>;
  /** Tells an end that is recorded. */
  tell(id: string, result: JobResult): Promise<void>;
  /** Writes the last event of a job that has ended, once. */
  seal(id: string, result: JobResult): Promise<void>;
  /** The row of a job at its end, or after a time. */
  wait(id: string, ms: number, signal: AbortSignal): Promise<Selectable<JobRow> | undefined>;
}

/** Creates the ends of the jobs of one queue. */
export function jobEnds(rows: JobRows, log: JobLog): JobEnds {
  const ends = new EventEmitter().setMaxListeners(0);
  const inTurn = createTurns();

  const seal: JobEnds['seal'] = (id, result) =>
    inTurn(id, async () => {
      try {
        const last = await log.last(id);
        if (last === undefined || !isLastEvent(last.line)) {
          await log.append(id, [JSON.stringify({ type: 'finished', jobId: id, result })]);
        }
      } finally {
        // On a full disk, an open log would keep its room after the job is deleted.
        await log.release(id);
      }
    });

  return {
    seal,
    async record({ id, attempt }, { result, errorCode }) {
      const isFirst = await persistently(() => rows.finish({ id, attempt }, result, errorCode));
      ends.emit(id);
      if (isFirst) await seal(id, result);
    },
    async tell(id, result) {
      ends.emit(id);
      await seal(id, result);
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
  };
}

/** Whether an event is the last one of its job. */
export function isLastEvent(line: string): boolean {
  return line.startsWith('{"type":"finished"');
}
