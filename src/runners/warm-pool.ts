/** Options of {@link createWarmPool}. */
export interface WarmPoolOptions<T> {
  /** How many members wait. */
  size: number;
  /** Starts one member and resolves when it is ready for its one job. */
  start(signal: AbortSignal): Promise<T>;
  destroy(member: T): Promise<void>;
  /** Calls back when a waiting member ends by itself. */
  onEnd(member: T, callback: () => void): void;
  /** Whether jobs run now; starting a member then waits a little, so that it takes no processor from them. */
  isBusy(): boolean;
  /** Told when a start fails; the next one waits longer. */
  onFailure(error: unknown): void;
  /** After this long without a job all members but one end. @default 300,000 ms */
  idleMs?: number;
}

/** Members that are started ahead and used once each. */
export interface WarmPool<T> extends AsyncDisposable {
  /** Takes a member that is ready, or none. */
  take(): T | undefined;
  /** Resolves when the pool is full, or its starts fail. */
  filled(): Promise<void>;
  close(): Promise<void>;
}

const BUSY_DELAY_MS = 5;
const BUSY_TRIES = 20;
const FIRST_BACKOFF_MS = 500;
const LONGEST_BACKOFF_MS = 30_000;

/** Creates a pool and begins to fill it, one member at a time. */
export function createWarmPool<T>(options: WarmPoolOptions<T>): WarmPool<T> {
  const members = new Set<T>();
  const closing = new AbortController();
  let target = options.size;
  let filling: Promise<void> | undefined;
  let backoffMs = 0;
  let idleTimer: NodeJS.Timeout | undefined;

  const fill = async (): Promise<void> => {
    while (members.size < target && !closing.signal.aborted) {
      for (let tries = 0; options.isBusy() && tries < BUSY_TRIES; tries += 1) await pause(BUSY_DELAY_MS);
      try {
        const member = await options.start(closing.signal);
        if (closing.signal.aborted) return await options.destroy(member);
        backoffMs = 0;
        members.add(member);
        options.onEnd(member, () => {
          if (members.delete(member)) refill();
        });
      } catch (error) {
        if (closing.signal.aborted) return;
        options.onFailure(error);
        backoffMs = Math.min(LONGEST_BACKOFF_MS, Math.max(FIRST_BACKOFF_MS, backoffMs * 2));
        setTimeout(refill, backoffMs).unref();
        return;
      }
    }
  };

  const refill = (): void => {
    if (closing.signal.aborted) return;
    filling ??= fill().finally(() => (filling = undefined));
  };

  const watchIdleness = (): void => {
    clearTimeout(idleTimer);
    idleTimer = setTimeout(() => {
      target = Math.min(1, options.size);
      for (const member of [...members].slice(target)) {
        members.delete(member);
        options.destroy(member).catch(options.onFailure);
      }
    }, options.idleMs ?? 300_000).unref();
  };

  refill();
  watchIdleness();
  const close = async (): Promise<void> => {
    closing.abort(new Error('The pool is closed.'));
    clearTimeout(idleTimer);
    await filling;
    const left = [...members];
    members.clear();
    await Promise.all(left.map(options.destroy));
  };
  return {
    take() {
      const [member] = members;
      if (member !== undefined) members.delete(member);
      target = options.size;
      watchIdleness();
      refill();
      return member;
    },
    async filled() {
      await filling;
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
