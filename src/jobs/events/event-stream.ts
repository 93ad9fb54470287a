import type { JobEvent, OutputEvent } from '../../contracts/jobs/events.ts';
import { joinOutput, type JoinedOutput } from './output-event.ts';

/** Passes an event to the job's reader; resolves when there is room for more. */
export type EmitEvent = (event: JobEvent) => Promise<void>;

/** Events of one job for one reader. Events before the first read are kept. */
export interface EventStream extends AsyncIterable<JobEvent> {
  /** Resolves when the reader has room for more; at once without a reader. */
  push(event: JobEvent): Promise<void>;
  end(): void;
}

/** Bytes of waiting output from which on the job is slowed down. */
const MAX_WAITING_BYTES = 4 * 1024 * 1024;

/** Number of waiting events from which on successive output is joined. */
const MAX_SEPARATE_EVENTS = 1_024;

/**
 * Creates a stream of events. Backpressure applies only while a reader reads. Before that, and after a reader has left, all events are kept
 * for the next reader: at most the output that a job keeps anyway, because the result holds the same bytes. Successive output is joined, so
 * that a program that writes single bytes does not fill the memory while the reader is stalled.
 */
export function createEventStream(): EventStream {
  const events: (JobEvent | JoinedOutput)[] = [];
  /** The last waiting output of each stream, as long as only output follows it. */
  const open = new Map<OutputEvent['stream'], JoinedOutput>();
  let waitingBytes = 0;
  let ended = false;
  let reading = false;
  let wake: (() => void) | undefined;
  let room: (() => void)[] = [];

  const release = (): void => {
    const waiters = room;
    room = [];
    for (const go of waiters) go();
  };

  const keep = (event: JobEvent): void => {
    if (event.type !== 'output' || events.length < MAX_SEPARATE_EVENTS) {
      open.clear();
      events.push(event);
    } else if (open.get(event.stream)?.add(event) !== true) {
      const joined = joinOutput(event);
      open.set(event.stream, joined);
      events.push(joined);
    }
  };

  const take = (): JobEvent | undefined => {
    const next = events.shift();
    if (next === undefined || 'type' in next) return next;
    for (const [stream, joined] of open) if (joined === next) open.delete(stream);
    return next.event();
  };

  async function* read(): AsyncGenerator<JobEvent> {
    reading = true;
    try {
      for (;;) {
        const event = take();
        if (event !== undefined) {
          if (event.type === 'output') waitingBytes -= event.bytes.length;
          if (waitingBytes <= MAX_WAITING_BYTES) release();
          yield event;
        } else if (ended) return;
        else await new Promise<void>((resolve) => (wake = resolve));
      }
    } finally {
      // A reader that leaves early must not block the job.
      reading = false;
      release();
    }
  }

  return {
    push(event) {
      if (ended) return Promise.resolve();
      if (event.type === 'output') waitingBytes += event.bytes.length;
      keep(event);
      wake?.();
      if (!reading || waitingBytes <= MAX_WAITING_BYTES) return Promise.resolve();
      return new Promise((resolve) => room.push(resolve));
    },
    end() {
      ended = true;
      wake?.();
      release();
    },
    [Symbol.asyncIterator]: read,
  };
}
