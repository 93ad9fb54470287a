import type { CliIo, EndingSignal } from './cli-io.ts';

/** Exit code by signal: 128 and its number. */
const SIGNAL_CODES: Record<EndingSignal, number> = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 };
/** The reader of our output is gone: 128 and SIGPIPE. */
const READER_GONE_CODE = 141;
/** The output cannot be written for another reason, such as a full disk. */
const OUTPUT_FAILED_CODE = 4;
/** A terminal's signal reaches a launcher and its child, and the launcher passes it on: that is one signal. */
const SAME_SIGNAL_MS = 300;
/** When a canceled job has had its grace, what is left is killed. */
const KILL_AFTER_MS = 2_300;
const EXIT_AFTER_MS = 2_700;
const URGENT_MS = 500;

/** Why and how a command ends before its time. The first reason counts. */
export interface Interruption {
  readonly signal: AbortSignal;
  /** Undefined as long as nothing happened. */
  readonly exitCode: number | undefined;
  /** Our output cannot be written any more: its reader is gone, or its disk is full. */
  outputLost(error: NodeJS.ErrnoException): void;
  /** What must be ended at once, should a clean end take too long. Returns how to take it back. */
  onUrgent(end: () => Promise<unknown>): () => void;
  /** Stops listening; timers that are under way still end the process when it hangs. */
  release(): void;
}

/**
 * Listens for the signals that end a command. The first one cancels; a second one, or a clean end that takes too long,
 * ends everything at once.
 */
export function listenForInterruption(io: CliIo): Interruption {
  const controller = new AbortController();
  const urgent = new Set<() => Promise<unknown>>();
  let exitCode: number | undefined;
  let firstAt = 0;

  const killAll = (): Promise<unknown> => Promise.allSettled([...urgent].map((end) => end()));

  const begin = (code: number, reason: string): void => {
    if (exitCode !== undefined) return;
    exitCode = code;
    firstAt = performance.now();
    controller.abort(new Error(reason));
    setTimeout(() => void killAll(), KILL_AFTER_MS).unref();
    setTimeout(() => io.exit(code), EXIT_AFTER_MS).unref();
  };

  const endNow = (code: number): void => {
    const timer = setTimeout(() => io.exit(code), URGENT_MS);
    void killAll().then(() => {
      clearTimeout(timer);
      io.exit(code);
    });
  };

  const listeners = Object.keys(SIGNAL_CODES).map((name) => {
    const signal = name as EndingSignal;
    const listener = (): void => {
      if (exitCode === undefined) begin(SIGNAL_CODES[signal], `${signal} came`);
      else if (performance.now() - firstAt > SAME_SIGNAL_MS) endNow(exitCode);
    };
    io.on(signal, listener);
    return { signal, listener };
  });

  return {
    signal: controller.signal,
    get exitCode() {
      return exitCode;
    },
    outputLost(error) {
      const readerGone = error.code === 'EPIPE' || error.code === 'ERR_STREAM_DESTROYED';
      begin(readerGone ? READER_GONE_CODE : OUTPUT_FAILED_CODE, error.message);
    },
    onUrgent(end) {
      urgent.add(end);
      return () => urgent.delete(end);
    },
    release() {
      for (const { signal, listener } of listeners) io.off(signal, listener);
    },
  };
}
