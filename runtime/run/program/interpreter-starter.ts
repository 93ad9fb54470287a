import { accessSync, constants } from 'node:fs';
import type { Writable } from 'node:stream';
import { counted, terminated } from './executor-link.ts';

/** The process in the namespace of a program that starts its interpreters, `wait-for-program.pl`. */
export interface InterpreterStarter {
  /** Whether the program has yet to begin. */
  readonly isOpen: boolean;
  /** Ends the waiting interpreter and starts another one by these words, with the same pipes. */
  replace(words: readonly string[]): void;
  /** The program begins. Nothing is replaced any more. */
  close(): void;
}

/** Without perl nothing takes the requests, and nothing is ever replaced. */
export function createStarter(requests: Writable): InterpreterStarter {
  let isOpen = isExecutable('/usr/bin/perl');
  // The end of a starter is known by its status.
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

/** The same test as in `start-executor.sh`. */
function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
