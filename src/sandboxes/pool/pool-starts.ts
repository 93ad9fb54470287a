import { createPoolClaims } from './pool-claims.ts';
import type { StartBackoff } from './start-backoff.ts';
import { waitWhileBusy } from '../wait-while-busy.ts';

/** The starts of a pool: a few in parallel, in turns with other pools, and after running jobs. */
export interface PoolStarts<T> {
  /** Starts the missing members, up to the limit of parallel starts. */
  refill(): void;
  /** Waits for a member whose start is under way. Resolves with undefined if no start is free for this caller, or if it fails. */
  next(accepts: (member: T) => boolean, signal: AbortSignal): Promise<T | undefined>;
  readonly underWay: ReadonlySet<Promise<void>>;
}

/** Options of {@link createPoolStarts}. */
export interface PoolStartsOptions<T> {
  start(signal: AbortSignal): Promise<T>;
  /** Waits for a turn; returns a function that gives the turn back. */
  enter?: ((signal: AbortSignal) => Promise<() => void>) | undefined;
  /** Most parallel starts; one while starts fail. */
  parallelStarts: number;
  backoff: StartBackoff;
  /** True while jobs run: they go first, for a while. */
  isBusy(): boolean;
  closed: AbortSignal;
  /** Number of members that the pool lacks. */
  lacking(): number;
  /** True if the next job would find no member. */
  isEmpty(): boolean;
  /** Takes a started member without a claim. `startMs` is the duration of its start. */
  onReady(member: T, startMs: number): Promise<void>;
  onFailed(error: unknown): void;
}

/** A tenth of a second, after which the start goes on, so that a long job does not hold it up. */
const BUSY_TRIES = 20;
/** Without a waiting member, the next job would start cold, so the start waits less. */
const BUSY_TRIES_EMPTY = 12;

/** Creates the starts of one pool; {@link PoolStarts.refill} begins the first starts. */
export function createPoolStarts<T>(options: PoolStartsOptions<T>): PoolStarts<T> {
  const { backoff, isBusy, closed } = options;
  const claims = createPoolClaims<T>();
  const underWay = new Set<Promise<void>>();
  /** Starts that wait for their turn, for an unknown time. */
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
