import { createPoolClaims } from './pool-claims.ts';
import type { StartBackoff } from './start-backoff.ts';
import { waitWhileBusy } from '../wait-while-busy.ts';

/** The starts of a pool: some at once, after jobs that run, in their turn. */
export interface PoolStarts<T> {
  /** Begins as many as the pool lacks and as may run at once. */
  refill(): void;
  /** Waits for a member that is being started now; none where there is none for this caller, or where its start fails. */
  next(accepts: (member: T) => boolean, signal: AbortSignal): Promise<T | undefined>;
  readonly underWay: ReadonlySet<Promise<void>>;
}

/** Options of {@link createPoolStarts}. */
export interface PoolStartsOptions<T> {
  start(signal: AbortSignal): Promise<T>;
  /** Waits for a turn; returns what gives it back. */
  enter?: ((signal: AbortSignal) => Promise<() => void>) | undefined;
  /** At once; one while starts fail. */
  parallelStarts: number;
  backoff: StartBackoff;
  /** Whether jobs run: they go first, for a while. */
  isBusy(): boolean;
  closed: AbortSignal;
  /** How many members the pool would take. */
  lacking(): number;
  /** Whether the next job would find none. */
  isEmpty(): boolean;
  /** Takes a member that nobody waits for, after so many milliseconds. */
  onReady(member: T, startMs: number): Promise<void>;
  onFailed(error: unknown): void;
}

const BUSY_TRIES = 20;
/** Where no member waits the next job would start cold: only a short one is given the processors first. */
const BUSY_TRIES_EMPTY = 12;

/** Creates the starts of one pool; the first begin with {@link PoolStarts.refill}. */
export function createPoolStarts<T>(options: PoolStartsOptions<T>): PoolStarts<T> {
  const { backoff, isBusy, closed } = options;
  const claims = createPoolClaims<T>();
  const underWay = new Set<Promise<void>>();
  /** Starts that wait for their turn: nobody knows how long. */
  let queued = 0;

  const refill = (): void => {
    const most = backoff.isFailing ? 1 : options.parallelStarts;
    const mayStart = (): boolean => !closed.aborted && !backoff.isWaiting && underWay.size < most;
    while (mayStart() && underWay.size - claims.size < options.lacking()) {
      const start = startOne().finally(() => {
        underWay.delete(start);
        claims.refuseBeyond(underWay.size);
        refill();
      });
      underWay.add(start);
    }
  };
  const startOne = async (): Promise<void> => {
    const since = performance.now();
    if (isBusy()) await waitWhileBusy(isBusy, mostTries, closed);
    try {
      const member = await startInTurn();
      backoff.succeeded();
      if (closed.aborted || !claims.give(member)) await options.onReady(member, performance.now() - since);
    } catch (error) {
      if (!closed.aborted) options.onFailed(error);
    }
  };
  const mostTries = (): number => {
    if (claims.size > 0) return 0;
    return options.isEmpty() ? BUSY_TRIES_EMPTY : BUSY_TRIES;
  };
  const startInTurn = async (): Promise<T> => {
    let leave: (() => void) | undefined;
    if (options.enter !== undefined) {
      queued += 1;
      leave = await options.enter(closed).finally(() => (queued -= 1));
    }
    try {
      closed.throwIfAborted();
      return await options.start(closed);
    } finally {
      leave?.();
    }
  };

  return {
    refill,
    underWay,
    async next(accepts, signal) {
      if (underWay.size - queued <= claims.size) return undefined;
      const claimed = claims.add(accepts, signal);
      refill();
      return await claimed;
    },
  };
}
