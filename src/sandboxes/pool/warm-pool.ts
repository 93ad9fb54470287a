import { createPoolMembers, type PoolMembers } from './pool-members.ts';
import { createPoolStarts } from './pool-starts.ts';
import { createStartBackoff } from './start-backoff.ts';
import { waitWhileBusy } from '../wait-while-busy.ts';

/** The median of the numbers that came last. */
export interface RecentMedian {
  add(value: number): void;
  /** Null before the first number. */
  median(): number | null;
}

/** Prepares members of a pool that wait already, one after the other: who needs one takes it as it is. */
interface PoolPreparation<T> {
  add(member: T): void;
  /** The preparation of all that were added, while there is something to do. */
  readonly underWay: Promise<void> | undefined;
}

/** Options of {@link createPoolPreparation}. */
interface PoolPreparationOptions<T> {
  members: PoolMembers<T>;
  prepare(member: T): Promise<void>;
  /** Whether jobs run: they go first, for a while. */
  isBusy(): boolean;
  closed: AbortSignal;
  /** Told of a member whose preparation failed, and why. It is none any more. */
  onLost(member: T, error: unknown): void;
}

/** Half a second: jobs that come one after the other find members that are as good as cold ones, and sooner. */
const BUSY_TRIES = 100;

/** Options of {@link createWarmPool}. */
export interface WarmPoolOptions<T> {
  /** How many members wait. */
  size: number;
  /** Starts one member and resolves when it is ready for its one job. */
  start(signal: AbortSignal): Promise<T>;
  /** Waits for a turn to start, where several pools share one machine; returns what gives it back. Default: there is no wait. */
  enter?(signal: AbortSignal): Promise<() => void>;
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
