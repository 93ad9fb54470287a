import type { JobEvent } from '../contracts/events.ts';

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

/**
 * Creates a stream of events. It slows its writer only once a reader has begun. Until then, and after a reader left, all is kept for the
 * next one: no more than the output that a job keeps, whose bytes the result holds as well.
 */
export function createEventStream(): EventStream {
  const events: JobEvent[] = [];
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

  async function* read(): AsyncGenerator<JobEvent> {
    reading = true;
    try {
      for (;;) {
        const event = events.shift();
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
      events.push(event);
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
