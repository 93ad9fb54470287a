import type { CliIo, EndingSignal } from './cli-io.ts';

/** Exit code by signal: 128 and its number. */
const SIGNAL_CODES: Record<EndingSignal, number> = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 };
/** The reader of the output is gone: 128 and SIGPIPE. */
const READER_GONE_CODE = 141;
/** The output cannot be written for another reason, such as a full disk. */
const OUTPUT_FAILED_CODE = 4;
/** A signal of the terminal reaches the launcher and its child, and the launcher passes it on: both count as one signal. */
const SAME_SIGNAL_MS = 300;
/** After this grace of a canceled job, the rest is killed. */
const KILL_AFTER_MS = 2_300;
const EXIT_AFTER_KILL_MS = 400;
const URGENT_MS = 500;

/** The reason and the exit code of an early end. The first reason counts. */
export interface Interruption {
  readonly signal: AbortSignal;
  /** Undefined before an interruption. */
  readonly exitCode: number | undefined;
  /** The output cannot be written any more: its reader is gone, or its disk is full. */
  outputLost(error: NodeJS.ErrnoException): void;
  /** Gives a clean end more time than usual, to save work. */
  allow(ms: number): void;
  /** Registers work to end at once if a clean end takes too long; `end` gets the reason. Returns a function that unregisters it. */
  onUrgent(end: (reason: string) => Promise<unknown>): () => void;
  /** Stops listening: the command is done, or the system may end it at once. */
  release(): void;
}

/**
 * Listens for the signals that end a command. The first one cancels; a second one, or a clean end that takes too long,
 * ends everything at once.
 */
export function listenForInterruption(io: CliIo): Interruption {
  const controller = new AbortController();
  const urgent = new Set<(reason: string) => Promise<unknown>>();
  let urgentExit: NodeJS.Timeout | undefined;
  let exitCode: number | undefined;
  let firstAt = 0;
  let cleanMs = KILL_AFTER_MS;

  const killAll = (reason: string): void => void Promise.allSettled([...urgent].map((end) => end(reason)));

  const begin = (code: number, reason: string): void => {
    if (exitCode !== undefined) return;
    exitCode = code;
    firstAt = performance.now();
    controller.abort(new Error(reason));
    setTimeout(() => killAll('a clean end took too long'), cleanMs).unref();
    setTimeout(() => io.exit(code), cleanMs + EXIT_AFTER_KILL_MS).unref();
  };

  /** A killed job still prints its result, and then the command ends by itself. */
  const endNow = (code: number, reason: string): void => {
    killAll(reason);
    urgentExit ??= setTimeout(() => io.exit(code), URGENT_MS);
  };

  const listeners = Object.keys(SIGNAL_CODES).map((name) => {
    const signal = name as EndingSignal;
    const listener = (): void => {
      if (exitCode === undefined) begin(SIGNAL_CODES[signal], `${signal} came`);
      else if (performance.now() - firstAt > SAME_SIGNAL_MS) endNow(exitCode, `${signal} came again`);
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
      begin(
        readerGone ? READER_GONE_CODE : OUTPUT_FAILED_CODE,
        readerGone ? 'the reader of the output is gone' : error.message,
      );
    },
    allow(ms) {
      cleanMs = ms;
    },
    onUrgent(end) {
      urgent.add(end);
      return () => urgent.delete(end);
    },
    release() {
      clearTimeout(urgentExit);
      for (const { signal, listener } of listeners) io.off(signal, listener);
    },
  };
}
