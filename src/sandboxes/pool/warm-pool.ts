import { createPoolMembers, type PoolMembers } from './pool-members.ts';
import { createPoolStarts } from './pool-starts.ts';
import { createStartBackoff } from './start-backoff.ts';
import { waitWhileBusy } from '../wait-while-busy.ts';

/** The median of the last numbers. */
export interface RecentMedian {
  add(value: number): void;
  /** Null before the first number. */
  median(): number | null;
}

/** Prepares waiting members of a pool one after the other. An unprepared member can still be taken. */
interface PoolPreparation<T> {
  add(member: T): void;
  /** The preparation of all added members, or undefined if there is nothing to do. */
  readonly underWay: Promise<void> | undefined;
}

/** Options of {@link createPoolPreparation}. */
interface PoolPreparationOptions<T> {
  members: PoolMembers<T>;
  prepare(member: T): Promise<void>;
  /** True while jobs run: they go first, for a while. */
  isBusy(): boolean;
  closed: AbortSignal;
  /** Called with a removed member whose preparation failed, and the reason. */
  onLost(member: T, error: unknown): void;
}

/** Half a second. During a burst of jobs, members stay unprepared, but are still faster than a cold start. */
const BUSY_TRIES = 100;

/** Options of {@link createWarmPool}. */
export interface WarmPoolOptions<T> {
  /** Number of waiting members. */
  size: number;
  /** Starts one member and resolves when it is ready for its single job. */
  start(signal: AbortSignal): Promise<T>;
  /** Waits for a turn to start if several pools share one machine; returns a function that gives the turn back. Default: no wait. */
  enter?(signal: AbortSignal): Promise<() => void>;
  /** Prepares a waiting member once, while no jobs run, to make its job faster. Default: no preparation. */
  prepare?(member: T, signal: AbortSignal): Promise<void>;
  destroy(member: T): Promise<void>;
  /** Calls back when a member ends by itself. */
  onEnd(member: T, callback: () => void): void;
  /** True while jobs run. A start of a member then waits a little, so that it takes no processor from them. */
  isBusy(): boolean;
  /** Called when a start, a preparation, a check or an end fails. After a failed start, the next start waits longer. */
  onFailure(error: unknown): void;
  /** Most parallel starts; one at a time while starts fail. @default 2 */
  parallelStarts?: number;
  /** Resolves when a waiting member answers. A member that rejects is replaced. Default: no checks. */
  check?(member: T): Promise<void>;
  /** Interval of the checks. @default 60,000 ms */
  checkIntervalMs?: number;
  /** After this time without a job, all members but one end. @default 300,000 ms */
  idleMs?: number;
}

/** Counters and current state of a pool. */
export interface WarmPoolCounts {
  /** Number of members to keep; at most one after `idleMs` without a job. */
  size: number;
  waiting: number;
  /** Fitting jobs that got a waiting member (hits), and that did not (misses). */
  hits: number;
  misses: number;
  startFailures: number;
  /** Median of the last 50 starts, from the decision to the ready member. Null before the first. */
  refillMs: number | null;
}

/** Members that are started ahead of jobs. Each member serves one job. */
export interface WarmPool<T> extends AsyncDisposable {
  /** Takes the longest waiting member that `accepts` approves (default: any), or returns undefined. */
  take(accepts?: (member: T) => boolean): T | undefined;
  /**
   * Waits for a member whose start is under way: it is ready sooner than a new start. Resolves with undefined if no start is free for
   * this caller, or if the start fails. The member is not prepared.
   */
  next(accepts: (member: T) => boolean, signal: AbortSignal): Promise<T | undefined>;
  /** Counts a fitting job that got no member of this pool. */
  missed(): void;
  /** Ends the backoff at once, because a start elsewhere has succeeded. */
  retry(): void;
  /** Resolves when the pool is full and its members are prepared, or its starts fail. */
  filled(): Promise<void>;
  counts(): WarmPoolCounts;
  /** A waiting member, for inspection; it stays in the pool. */
  sample(): T | undefined;
  close(): Promise<void>;
}

const REFILLS_KEPT = 50;

/** Creates a pool and begins to fill it. */
export function createWarmPool<T>(options: WarmPoolOptions<T>): WarmPool<T> {
  const { onFailure, parallelStarts = 2, checkIntervalMs = 60_000, idleMs = 300_000 } = options;
  const closing = new AbortController();
  const closed = closing.signal;
  const members = createPoolMembers<T>();
  const backoff = createStartBackoff(() => starts.refill());
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
  const lacking = (): number => target - members.size;
  const starts = createPoolStarts<T>({
    start: (signal) => options.start(signal),
    enter: options.enter?.bind(options),
    parallelStarts,
    backoff,
    isBusy: options.isBusy,
    closed,
    lacking,
    isEmpty: () => members.size === 0,
    async onReady(member, startMs) {
      if (closed.aborted || lacking() <= 0) return await destroy(member);
      refillMs.add(startMs);
      members.add(member);
      options.onEnd(member, () => {
        if (members.remove(member)) starts.refill();
      });
      if (options.prepare !== undefined) preparation.add(member);
    },
    onFailed: failed,
  });
  const preparation = createPoolPreparation<T>({
    members,
    prepare: async (member) => await options.prepare?.(member, closed),
    isBusy: options.isBusy,
    closed,
    onLost(member, error) {
      void destroy(member);
      failed(error);
      starts.refill();
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
    starts.refill();
  };
  const check = options.check?.bind(options);
  const checks =
    check && setInterval(() => void members.askAll(options.isBusy, check, replace), checkIntervalMs).unref();

  const close = async (): Promise<void> => {
    closing.abort(new Error('The pool is closed.'));
    clearTimeout(idleTimer);
    backoff.close();
    clearInterval(checks);
    await Promise.all([...members.removeBeyond(0).map(destroy), ...starts.underWay, preparation.underWay]);
  };

  starts.refill();
  watchIdleness();
  return {
    take(accepts = () => true) {
      const member = members.take(accepts);
      if (member !== undefined) seen.hits += 1;
      target = options.size;
      watchIdleness();
      starts.refill();
      return member;
    },
    next: starts.next,
    missed: () => void (seen.misses += 1),
    retry: backoff.end,
    async filled() {
      while (starts.underWay.size > 0 || preparation.underWay !== undefined)
        await Promise.all([...starts.underWay, preparation.underWay]);
    },
    counts: () => ({ size: target, waiting: members.free, ...seen, refillMs: refillMs.median() }),
    sample: members.first,
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** Creates the preparation of one pool. */
function createPoolPreparation<T>(options: PoolPreparationOptions<T>): PoolPreparation<T> {
  const { members, prepare, isBusy, closed, onLost } = options;
  const added: T[] = [];
  let underWay: Promise<void> | undefined;
  const prepareAdded = async (): Promise<void> => {
    for (let member = added.shift(); member !== undefined; member = added.shift()) {
      const waiting = member;
      await waitWhileBusy(isBusy, () => (members.has(waiting) ? BUSY_TRIES : 0), closed);
      await members.ask(waiting, prepare, onLost);
    }
  };
  return {
    add(member) {
      added.push(member);
      underWay ??= prepareAdded().finally(() => (underWay = undefined));
    },
    get underWay() {
      return underWay;
    },
  };
}

/** Keeps the last `kept` numbers. */
export function createRecentMedian(kept: number): RecentMedian {
  const values: number[] = [];
  return {
    add(value) {
      values.push(value);
      if (values.length > kept) values.shift();
    },
    median() {
      const sorted = values.toSorted((a, b) => a - b);
      const upper = sorted[Math.floor(sorted.length / 2)];
      const lower = sorted[Math.ceil(sorted.length / 2) - 1];
      return upper === undefined || lower === undefined ? null : (lower + upper) / 2;
    },
  };
}
