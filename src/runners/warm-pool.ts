import { createRecentMedian } from './recent-median.ts';

/** Options of {@link createWarmPool}. */
export interface WarmPoolOptions<T> {
  /** How many members wait. */
  size: number;
  /** Starts one member and resolves when it is ready for its one job. */
  start(signal: AbortSignal): Promise<T>;
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
  /** Of the jobs whose demand fits: those that got a member, and those that did not. */
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
  /** A job that could have been served had to be started elsewhere. */
  missed(): void;
  /** A start elsewhere went well: a pool that waits after failures tries again at once. */
  retry(): void;
  /** Resolves when the pool is full, or its starts fail. */
  filled(): Promise<void>;
  counts(): WarmPoolCounts;
  /** A member that waits, to be looked at. */
  sample(): T | undefined;
  close(): Promise<void>;
}

const BUSY_DELAY_MS = 5;
const BUSY_TRIES = 20;
/** Where no member waits the next job would start cold: only a short one is given the processors first. */
const BUSY_TRIES_EMPTY = 5;
const FIRST_BACKOFF_MS = 500;
const LONGEST_BACKOFF_MS = 30_000;
const REFILLS_KEPT = 50;

/** Creates a pool and begins to fill it. */
export function createWarmPool<T>(options: WarmPoolOptions<T>): WarmPool<T> {
  const { isBusy, onFailure, parallelStarts = 2 } = options;
  const closing = new AbortController();
  const closed = closing.signal;
  /** All that are ours, the longest waiting first; of these, those that nobody asks just now wait for a job. */
  const members = new Set<T>();
  const asked = new Set<T>();
  const starts = new Set<Promise<void>>();
  const refillMs = createRecentMedian(REFILLS_KEPT);
  const seen = { hits: 0, misses: 0, startFailures: 0 };
  let target = options.size;
  let backoffMs = 0;
  let backoff: NodeJS.Timeout | undefined;
  let idleTimer: NodeJS.Timeout | undefined;

  const destroy = (member: T): Promise<void> => options.destroy(member).catch(onFailure);

  const startOne = async (): Promise<void> => {
    const since = performance.now();
    const mostTries = (): number => (members.size === 0 ? BUSY_TRIES_EMPTY : BUSY_TRIES);
    for (let tries = 0; isBusy() && tries < mostTries() && !closed.aborted; tries += 1) await pause(BUSY_DELAY_MS);
    try {
      closed.throwIfAborted();
      const member = await options.start(closed);
      backoffMs = 0;
      if (closed.aborted || members.size >= target) return await destroy(member);
      refillMs.add(performance.now() - since);
      members.add(member);
      options.onEnd(member, () => {
        if (members.delete(member)) refill();
      });
    } catch (error) {
      if (closed.aborted) return;
      seen.startFailures += 1;
      onFailure(error);
      if (backoff === undefined) waitLonger();
    }
  };

  const waitLonger = (): void => {
    backoffMs = Math.min(LONGEST_BACKOFF_MS, Math.max(FIRST_BACKOFF_MS, backoffMs * 2));
    backoff = setTimeout(endBackoff, backoffMs).unref();
  };
  const endBackoff = (): void => {
    clearTimeout(backoff);
    backoff = undefined;
    refill();
  };

  const refill = (): void => {
    const most = backoffMs > 0 ? 1 : parallelStarts;
    while (!closed.aborted && backoff === undefined && starts.size < most && members.size + starts.size < target) {
      const start = startOne().finally(() => {
        starts.delete(start);
        refill();
      });
      starts.add(start);
    }
  };

  const shrink = (): void => {
    target = Math.min(1, options.size);
    for (const member of [...members].slice(target)) {
      members.delete(member);
      void destroy(member);
    }
  };
  const watchIdleness = (): void => {
    clearTimeout(idleTimer);
    idleTimer = setTimeout(shrink, options.idleMs ?? 300_000).unref();
  };

  /** One after the other: all at once would be work for the whole machine. */
  const checkAll = async (check: (member: T) => Promise<void>): Promise<void> => {
    for (const member of [...members]) {
      if (!members.has(member) || asked.size > 0 || isBusy()) continue;
      asked.add(member);
      try {
        await check(member);
      } catch (error) {
        if (!members.delete(member)) continue;
        onFailure(error);
        void destroy(member);
        refill();
      } finally {
        asked.delete(member);
      }
    }
  };
  const { check } = options;
  const checks =
    check && setInterval(() => void checkAll(check.bind(options)), options.checkIntervalMs ?? 60_000).unref();

  const longestFree = (accepts: (member: T) => boolean): T | undefined =>
    [...members].find((member) => !asked.has(member) && accepts(member));

  const close = async (): Promise<void> => {
    closing.abort(new Error('The pool is closed.'));
    clearTimeout(idleTimer);
    clearTimeout(backoff);
    clearInterval(checks);
    const left = [...members];
    members.clear();
    await Promise.all([...left.map(destroy), ...starts]);
  };

  refill();
  watchIdleness();
  return {
    take(accepts = () => true) {
      const member = longestFree(accepts);
      if (member !== undefined) {
        seen.hits += 1;
        members.delete(member);
      }
      target = options.size;
      watchIdleness();
      refill();
      return member;
    },
    missed: () => void (seen.misses += 1),
    retry() {
      if (backoff !== undefined) endBackoff();
    },
    async filled() {
      while (starts.size > 0) await Promise.all(starts);
    },
    counts: () => ({ size: target, waiting: members.size - asked.size, ...seen, refillMs: refillMs.median() }),
    sample: () => members.values().next().value,
    close,
    [Symbol.asyncDispose]: close,
  };
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
