import { EventEmitter, once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import type { Selectable } from 'kysely';
import type { JobResult } from '../contracts/jobs/result.ts';
import type { JobRow } from '../registry/database/tables.ts';
import { persistently } from './persistently.ts';
import type { Attempt, JobRowAtEnd, JobRows } from './rows/job-rows.ts';
import type { QueuedEnd } from './run-queued-job.ts';
import type { JobLog } from './seams/job-log.ts';
import { createTurns } from './seams/turns.ts';

/** The ends of jobs: each is recorded in its row first, then told to those who wait, then written to its log. */
export interface JobEnds {
  /** Records the end of an attempt, and tells it. @returns false if the attempt had ended: its end counts for nothing */
  record(attempt: Attempt, end: QueuedEnd): Promise<boolean>;
  /** Tells an end that is recorded. @param attempt that of the row */
  tell(attempt: Attempt, result: JobResult): Promise<void>;
  /**
   * Writes the last event of a job that has ended, once. Where no log of it is kept, it gets the place after all that was lost: on each host the
   * same, and readers who have seen more than is kept go on there.
   */
  seal(attempt: Attempt, result: JobResult): Promise<void>;
  /** Whether the last event is written. */
  isSealed(id: string): Promise<boolean>;
  /** The row of a job at its end, or after a time; with its request unless it ended meanwhile. */
  wait(id: string, ms: number, signal: AbortSignal): Promise<JobRowAtEnd | Selectable<JobRow> | undefined>;
}

/**
 * Creates the ends of the jobs of one queue.
 *
 * @param options `pollMs` is the pause between two looks for the ends that other processes record; none without it
 */
export function jobEnds(rows: JobRows, log: JobLog, { pollMs }: { pollMs?: number | undefined } = {}): JobEnds {
  const ends = new EventEmitter().setMaxListeners(0);
  const inTurn = createTurns();

  const isSealed: JobEnds['isSealed'] = async (id) => {
    const last = await log.last(id);
    return last !== undefined && isLastEvent(last.head);
  };

  const seal: JobEnds['seal'] = ({ id, attempt }, result) =>
    inTurn(id, async () => {
      try {
        const last = await log.last(id);
        if (last !== undefined && isLastEvent(last.head)) return;
        if (last === undefined) await log.begin(id, attempt + 1);
        await log.append(id, [JSON.stringify({ type: 'finished', jobId: id, result })]);
      } finally {
        // On a full disk, an open log would keep its room after the job is deleted.
        await log.release(id);
      }
    });

  const isOver = async (id: string): Promise<boolean> => {
    const state = (await rows.summary(id))?.state;
    return state === undefined || state === 'finished';
  };
  const endedElsewhere = async (id: string, everyMs: number, signal: AbortSignal): Promise<[]> => {
    while (!signal.aborted) {
      await pause(everyMs, undefined, { signal, ref: false }).catch(() => undefined);
      if (!signal.aborted && (await persistently(() => isOver(id)))) break;
    }
    return [];
  };

  return {
    seal,
    isSealed,
    async record({ id, attempt }, { result, errorCode }) {
      const row = await persistently(() => rows.finish({ id, attempt }, result, errorCode));
      ends.emit(id, row);
      if (row !== undefined) await seal({ id, attempt }, result);
      return row !== undefined;
    },
    async tell(attempt, result) {
      ends.emit(attempt.id);
      await seal(attempt, result);
    },
    async wait(id, ms, signal) {
      const left = new AbortController();
      const over = AbortSignal.any([AbortSignal.timeout(ms), signal, left.signal]);
      try {
        // Listen first: an end during the query is not missed.
        const told = once(ends, id, { signal: over }).catch(() => []);
        const ended = pollMs === undefined ? told : Promise.race([told, endedElsewhere(id, pollMs, over)]);
        // A row with its bodies is not held for the time of the job.
        const [row] = (await isOver(id)) ? [] : ((await ended) as [JobRowAtEnd?]);
        return row ?? (await rows.get(id));
      } finally {
        left.abort();
      }
    },
  };
}

const LAST_EVENT: Buffer = Buffer.from('{"type":"finished"');

/** Whether an event is the last one of its job. @param head the beginning of its JSON */
export function isLastEvent(head: Buffer): boolean {
  return head.subarray(0, LAST_EVENT.length).equals(LAST_EVENT);
}
