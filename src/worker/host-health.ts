import { setTimeout as pause } from 'node:timers/promises';

/** Pause between two looks at a host that starts no sandbox. */
const LOOK_MS = 2_000;

/** Whether the host of a worker starts sandboxes: its disk may be full, or its engine gone. */
export interface HostHealth {
  readonly isHealthy: boolean;
  /** Called after a sandbox did not start. Resolves when it is known whether the fault is the host's. */
  check(): Promise<void>;
}

/** Options of {@link createHostHealth}. */
export interface HostHealthOptions {
  /** Starts a sandbox as a test. @throws the reason if it does not start */
  probe(): Promise<void>;
  /** Called when the host starts no sandbox, and when it does again. */
  onChange(isHealthy: boolean, reason?: unknown): void;
  /** Ends the looks. */
  signal: AbortSignal;
}

/**
 * Looks whether a host starts sandboxes, after a start has failed there, until it does again. A worker that went on would take and fail demands faster
 * than others can serve them.
 */
export function createHostHealth({ probe, onChange, signal }: HostHealthOptions): HostHealth {
  let isHealthy = true;
  let looking: Promise<void> | undefined;
  const look = async (): Promise<void> => {
    try {
      await probe();
      if (!isHealthy) onChange((isHealthy = true));
    } catch (error) {
      if (isHealthy && !signal.aborted) onChange((isHealthy = false), error);
    }
  };
  const lookAgain = async (): Promise<void> => {
    while (!isHealthy && !signal.aborted) {
      await pause(LOOK_MS, undefined, { signal, ref: false }).catch(() => undefined);
      if (!signal.aborted) await look();
    }
  };
  return {
    get isHealthy() {
      return isHealthy;
    },
    async check() {
      if (!isHealthy) return;
      looking ??= look().finally(() => {
        looking = undefined;
        void lookAgain();
      });
      await looking;
    },
  };
}
