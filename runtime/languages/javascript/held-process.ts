import { apply } from './captured.ts';

/** What a session hears of its process. */
export interface ProcessListener {
  /** Something failed that nobody waited for. */
  failed(error: unknown): void;
  /** The process ends, and all that listens for it has been called. */
  exiting(): void;
}

/**
 * Listens to the process where no code of users takes the listener away: in front of them all, and not as one of them. What is heard
 * here of errors is handled, so that none of them ends the interpreter.
 */
export function holdProcess({ failed, exiting }: ProcessListener): void {
  const { emit } = process;
  const emitAndHear = (name: string, ...values: unknown[]): boolean => {
    const isFailure = name === 'uncaughtException' || name === 'unhandledRejection';
    if (isFailure) failed(values[0]);
    let heard = isFailure;
    try {
      heard = (apply(emit, process, [name, ...values]) as boolean) || heard;
    } catch (error) {
      // Node would end the process: a listener for errors that fails itself is none.
      if (!isFailure) throw error;
      failed(error);
    }
    if (name === 'exit') exiting();
    return heard;
  };
  process.emit = emitAndHear as typeof process.emit;
  // An interrupt of the whole session is for programs of other languages.
  process.on('SIGINT', () => undefined);
}
