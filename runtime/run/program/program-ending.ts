import type { CancelReason } from '../../../src/protocol/messages/messages.ts';
import { answerCalls } from './answer-calls.ts';
import type { CallPort } from '../call-port.ts';
import type { ExecutorMessage } from './executor-link.ts';
import type { ExecutorProcess } from './executor-process.ts';
import type { ProcessEnd } from './wait-status.ts';

/** The cause of the end of a run: `itself` if the program ended by itself, else the reason of the supervisor. The first cause counts. */
export type EndCause = 'itself' | 'run-deadline' | CancelReason | 'output' | 'memory' | 'workspace' | 'inodes';

/** The end of a program, and its reports until then. */
export interface ProgramEnding {
  /** Ends the run. Causes after the first change nothing. */
  because(cause: EndCause): void;
  /** The first cause. */
  readonly cause: Promise<EndCause>;
  /** Settles when the program itself has ended. */
  readonly over: Promise<void>;
  /** Settles when no more reports can arrive. */
  readonly saidAll: Promise<void>;
  /** Settles when the program has written its buffered output. */
  readonly flushed: Promise<void>;
  /** Stops answering the program's calls. */
  stopAnswering(): void;
  /** The end of the program's process, if known. */
  readonly process: ProcessEnd | undefined;
  /** The program's last reported error. */
  readonly error: unknown;
  /** The program's last reported value. */
  readonly value: (ExecutorMessage & { type: 'value' }) | undefined;
}

/** Listens to an executor whose program is about to start. */
export function watchEnding(executor: ExecutorProcess, port: CallPort, refusals: number): ProgramEnding {
  const { link } = executor;
  const cause = Promise.withResolvers<EndCause>();
  const over = Promise.withResolvers<void>();
  const saidAll = Promise.withResolvers<void>();
  const flushed = Promise.withResolvers<void>();
  let ended: ProcessEnd | undefined;
  let error: unknown;
  let value: ProgramEnding['value'];

  const programEnded = (): void => {
    over.resolve();
    cause.resolve('itself');
  };
  const calls = answerCalls(port, link, {
    refusals,
    onExhausted: () => cause.resolve('calls'),
    onFault: () => programEnded(),
  });
  link.onBytes = (part, chunk) => calls.takeBytes(part, chunk);
  link.onCall = (bytes) => calls.take(bytes);
  link.onMessage = (message) => {
    if (message.type === 'report') error = message.error;
    else if (message.type === 'value') value = message;
    else if (message.type === 'flushed') flushed.resolve();
  };
  link.onFault = programEnded;
  executor.messagesIn.once('close', saidAll.resolve);
  void executor.ended.then((end) => {
    ended = end;
    programEnded();
  });
  return {
    because: cause.resolve,
    cause: cause.promise,
    over: over.promise,
    saidAll: saidAll.promise,
    flushed: flushed.promise,
    stopAnswering: () => calls.close(),
    get process() {
      return ended;
    },
    get error() {
      return error;
    },
    get value() {
      return value;
    },
  };
}
