/** Bounds the work under way. Further work waits in order of arrival. */
export interface Limiter {
  /**
   * Waits for room.
   *
   * @returns a function that gives the room back (only its first call counts); undefined if the queue is full
   * @throws the reason of the signal if it aborts first
   */
  enter(request?: LimiterRequest): Promise<(() => void) | undefined>;
  /** Runs work of weight 1 when there is room. */
  run<Result>(work: () => Promise<Result>): Promise<Result>;
  /** Weight of the work under way. */
  readonly running: number;
}

/** A request for room. */
export interface LimiterRequest {
  /** Room that the work takes. @default 1 */
  weight?: number;
  /** Room that the request takes in the queue. @default its weight */
  size?: number;
  signal?: AbortSignal | undefined;
}

/** Options of {@link createLimiter}. */
export interface LimiterOptions {
  /** Most weight of the work under way. Heavier work runs alone. */
  room: number;
  /** Most size of the waiting requests. @default no limit */
  queue?: number;
}

/** Creates a limiter. */
export function createLimiter({ room, queue = Number.POSITIVE_INFINITY }: LimiterOptions): Limiter {
  let running = 0;
  let queued = 0;
  const waiting: { weight: number; size: number; go(): void }[] = [];

  const fits = (weight: number): boolean => running === 0 || running + weight <= room;
  const start = (weight: number): (() => void) => {
    running += weight;
    let held = true;
    return () => {
      if (!held) return;
      held = false;
      running -= weight;
      startWaiting();
    };
  };
  const startWaiting = (): void => {
    for (let first = waiting[0]; first !== undefined && fits(first.weight); first = waiting[0]) {
      waiting.shift();
      queued -= first.size;
      first.go();
    }
  };

  const limiter: Limiter = {
    get running() {
      return running;
    },
    async run(work) {
      const leave = await limiter.enter();
      if (leave === undefined) throw new Error('Cannot do the work: the queue is full.');
      try {
        return await work();
      } finally {
        leave();
      }
    },
    async enter({ weight = 1, size = weight, signal } = {}) {
      signal?.throwIfAborted();
      if (waiting.length === 0 && fits(weight)) return start(weight);
      if (queued + size > queue) return undefined;
      const turn = Promise.withResolvers<() => void>();
      const entry = {
        weight,
        size,
        go() {
          signal?.removeEventListener('abort', leave);
          turn.resolve(start(weight));
        },
      };
      const leave = (): void => {
        waiting.splice(waiting.indexOf(entry), 1);
        queued -= size;
        turn.reject(signal?.reason as Error);
        startWaiting();
      };
      signal?.addEventListener('abort', leave, { once: true });
      waiting.push(entry);
      queued += size;
      return await turn.promise;
    },
  };
  return limiter;
}
