import { createPoolClaims } from './pool-claims.ts';
import { createPoolMembers } from './pool-members.ts';
import { createPoolPreparation } from './pool-preparation.ts';
import { createRecentMedian } from './recent-median.ts';
import { createStartBackoff } from './start-backoff.ts';
import { waitWhileBusy } from './wait-while-busy.ts';

/** Options of {@link createWarmPool}. */
export interface WarmPoolOptions<T> {
  /** How many members wait. */
  size: number;
  /** Starts one member and resolves when it is ready for its one job. */
  start(signal: AbortSignal): Promise<T>;
  /** What is done once with a waiting member, while no jobs run: the next job is quicker then. Default: nothing. */
  prepare?(member: T, signal: AbortSignal): Promise<void>;
  destroy(member: T): Promise<void>;
  /** Calls back when a member ends by itself. */
  onEnd(member: T, callback: () => void): void;
  /** Whether jobs run now; starting a member then waits a little, so that it takes no processor from them. */
  isBusy(): boolean;
  /** Told when a start, a check or an end fails; after a start, the next one waits longer. */
  onFailure(error: unknown): void;
  /** Starts at once; one at a time while starts fail. @default 2 */
  parallelStarts?: number;
  /** Resolves when a waiting member answers. One that rejects is replaced. Default: members are not asked. */
  check?(member: T): Promise<void>;
  /** How often waiting members are asked. @default 60,000 ms */
  checkIntervalMs?: number;
  /** After this long without a job all members but one end. @default 300,000 ms */
  idleMs?: number;
}

/** What a pool has done so far, and has now. */
export interface WarmPoolCounts {
  /** Members that it keeps: fewer when nobody came for a while. */
  size: number;
  waiting: number;
  /** Of the jobs whose demand fits: those that got a member that waited, and those that did not. */
  hits: number;
  misses: number;
  startFailures: number;
  /** Median of the last 50 starts, from the decision to the ready member. Null before the first. */
  refillMs: number | null;
}

/** Members that are started ahead and used once each. */
export interface WarmPool<T> extends AsyncDisposable {
  /** Takes the member that is ready for longest, of those that `accepts` if it is given; or none. */
  take(accepts?: (member: T) => boolean): T | undefined;
  /**
   * Waits for a member that is being started now, which comes sooner than one that is started anew; none where there is none
   * for this caller, or where the start fails. The member is not prepared.
   */
  next(accepts: (member: T) => boolean, signal: AbortSignal): Promise<T | undefined>;
  /** A job that could have been served had to be started elsewhere. */
  missed(): void;
  /** A start elsewhere went well: a pool that waits after failures tries again at once. */
  retry(): void;
  /** Resolves when the pool is full and its members are prepared, or its starts fail. */
  filled(): Promise<void>;
  counts(): WarmPoolCounts;
  /** A member that waits, to be looked at. */
  sample(): T | undefined;
  close(): Promise<void>;
}

const BUSY_TRIES = 20;
/** Where no member waits the next job would start cold: only a short one is given the processors first. */
const BUSY_TRIES_EMPTY = 5;
const REFILLS_KEPT = 50;

/** Creates a pool and begins to fill it. */
export function createWarmPool<T>(options: WarmPoolOptions<T>): WarmPool<T> {
  const { onFailure, parallelStarts = 2, checkIntervalMs = 60_000, idleMs = 300_000 } = options;
  const closing = new AbortController();
  const closed = closing.signal;
  const members = createPoolMembers<T>();
  const claims = createPoolClaims<T>();
  const starts = new Set<Promise<void>>();
  const backoff = createStartBackoff(() => refill());
  const refillMs = createRecentMedian(REFILLS_KEPT);
  const seen = { hits: 0, misses: 0, startFailures: 0 };
  let target = options.size;
  let idleTimer: NodeJS.Timeout | undefined;

  const destroy = (member: T): Promise<void> => options.destroy(member).catch(onFailure);

  const failed = (error: unknown): void => {
    seen.startFailures += 1;
    onFailure(error);
    backoff.failed();
  };

  const refill = (): void => {
    const most = backoff.isFailing ? 1 : parallelStarts;
    while (
      !closed.aborted &&
      !backoff.isWaiting &&
      starts.size < most &&
      members.size + starts.size - claims.size < target
    ) {
      const start = startOne().finally(() => {
        starts.delete(start);
        claims.refuseBeyond(starts.size);
        refill();
      });
      starts.add(start);
    }
  };
  const startOne = async (): Promise<void> => {
    const since = performance.now();
    const mostTries = (): number => {
      if (claims.size > 0) return 0;
      return members.size === 0 ? BUSY_TRIES_EMPTY : BUSY_TRIES;
    };
    if (options.isBusy()) await waitWhileBusy(options.isBusy, mostTries, closed);
    try {
      closed.throwIfAborted();
      const member = await options.start(closed);
      backoff.succeeded();
      if (!closed.aborted && claims.give(member)) return;
      if (closed.aborted || members.size >= target) return await destroy(member);
      refillMs.add(performance.now() - since);
      members.add(member);
      options.onEnd(member, () => {
        if (members.remove(member)) refill();
      });
      if (options.prepare !== undefined) preparation.add(member);
    } catch (error) {
      if (!closed.aborted) failed(error);
    }
  };
  const preparation = createPoolPreparation<T>({
    members,
    prepare: async (member) => await options.prepare?.(member, closed),
    isBusy: options.isBusy,
    closed,
    onLost(member, error) {
      void destroy(member);
      failed(error);
      refill();
    },
  });

  const watchIdleness = (): void => {
    clearTimeout(idleTimer);
    idleTimer = setTimeout(() => {
      target = Math.min(1, options.size);
      for (const member of members.removeBeyond(target)) void destroy(member);
    }, idleMs).unref();
  };

  const replace = (member: T, error: unknown): void => {
    onFailure(error);
    void destroy(member);
    refill();
  };
  const check = options.check?.bind(options);
  const checks =
    check && setInterval(() => void members.askAll(options.isBusy, check, replace), checkIntervalMs).unref();

  const close = async (): Promise<void> => {
    closing.abort(new Error('The pool is closed.'));
    clearTimeout(idleTimer);
    backoff.close();
    clearInterval(checks);
    await Promise.all([...members.removeBeyond(0).map(destroy), ...starts, preparation.underWay]);
  };

  refill();
  watchIdleness();
  return {
    take(accepts = () => true) {
      const member = members.take(accepts);
      if (member !== undefined) seen.hits += 1;
      target = options.size;
      watchIdleness();
      refill();
      return member;
    },
    async next(accepts, signal) {
      if (starts.size <= claims.size) return undefined;
      const claimed = claims.add(accepts, signal);
      refill();
      return await claimed;
    },
    missed: () => void (seen.misses += 1),
    retry: backoff.end,
    async filled() {
      while (starts.size > 0 || preparation.underWay !== undefined)
        await Promise.all([...starts, preparation.underWay]);
    },
    counts: () => ({ size: target, waiting: members.free, ...seen, refillMs: refillMs.median() }),
    sample: members.first,
    close,
    [Symbol.asyncDispose]: close,
  };
}
