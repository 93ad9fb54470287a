import type { JobEvent, OutputEvent } from '../../contracts/jobs/events.ts';
import { joinOutput, type JoinedOutput } from './output-event.ts';

/** Hands an event to the job's reader; resolves when there is room for more. */
export type EmitEvent = (event: JobEvent) => Promise<void>;

/** Events of one job on their way to one reader. Events before the first read are kept. */
export interface EventStream extends AsyncIterable<JobEvent> {
  /** Resolves when the reader has room for more; at once while nobody reads. */
  push(event: JobEvent): Promise<void>;
  end(): void;
}

/** Bytes of output that may wait for a reader before the job is slowed down. */
const MAX_WAITING_BYTES = 4 * 1024 * 1024;

/** Events that wait as they came; where more wait, output that follows output is joined. */
const MAX_SEPARATE_EVENTS = 1_024;

/**
 * Creates a stream of events. It slows its writer only once a reader has begun. Until then, and after a reader left, all is kept for the
 * next one: no more than the output that a job keeps, whose bytes the result holds as well. A program that writes its bytes one by one
 * costs a reader that stands still no event for each.
 */
export function createEventStream(): EventStream {
  const events: (JobEvent | JoinedOutput)[] = [];
  /** What waits of each stream, where nothing but output follows it. */
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
      // A reader that leaves early must not hold the job up.
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
