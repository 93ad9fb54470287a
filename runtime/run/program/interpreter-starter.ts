import type { Writable } from 'node:stream';
import { isExecutable } from '../../sandbox/is-executable.ts';
import { counted, terminated } from './executor-link.ts';

/** Starts the interpreters in the namespace of a program: `wait-for-program.pl`. */
export interface InterpreterStarter {
  /** Whether the program has not begun yet. */
  readonly isOpen: boolean;
  /** Ends the waiting interpreter and starts another with this command, with the same pipes. */
  replace(words: readonly string[]): void;
  /** Call when the program begins. It ends all replacement. */
  close(): void;
}

/** Without perl no process takes the requests, and no interpreter is ever replaced. */
export function createStarter(requests: Writable): InterpreterStarter {
  // The same test as in `start-executor.sh`.
  let isOpen = isExecutable('/usr/bin/perl');
  // The status reports the end of a starter.
  requests.on('error', () => undefined);
  const send = (words: readonly string[]): void => {
    requests.write(terminated(counted(words)));
  };
  return {
    get isOpen() {
      return isOpen;
    },
    replace: send,
    close() {
      if (!isOpen) return;
      isOpen = false;
      send([]);
      requests.end();
    },
  };
}
