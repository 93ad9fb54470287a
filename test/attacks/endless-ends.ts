import type { BuiltInLanguage } from '../../src/contracts/jobs/language.ts';

/** A program whose ordinary end never comes; with any argument its end is short. Both print `ending`, the short end also `ended`. */
export interface EndlessEnd {
  language: BuiltInLanguage;
  code: string;
  /** Continues although it is asked to end. */
  stubborn?: true;
}

/** All names that it needs are default arguments, because a finalizer runs after its module is emptied. */
const PYTHON_END = `
import atexit, ctypes, signal, sys, threading, time
def end(words=sys.argv, sleep=time.sleep):
    print('ending', flush=True)
    while len(words) < 2: sleep(0.02)
    print('ended')
`;

const NODE_END = `
import { writeSync } from 'node:fs';
const isShort = process.argv.length > 2;
const say = (word) => writeSync(1, word + '\\n');
`;

const BASH_END = `
end() {
  echo ending
  while [ $# = 0 ]; do sleep 0.02; done
  echo ended
}
trap 'end "$@"' EXIT
`;

/** By the code that never ends. */
export const ENDLESS_ENDS: Record<string, EndlessEnd> = {
  'a function of atexit': { language: 'python', code: `${PYTHON_END}atexit.register(end)` },
  'a function of atexit that has C ignore SIGTERM': {
    language: 'python',
    code: `${PYTHON_END}atexit.register(end)\natexit.register(ctypes.CDLL(None).signal, 15, ctypes.c_void_p(1))`,
    stubborn: true,
  },
  'a finalizer': {
    language: 'python',
    code: `${PYTHON_END}class Last:\n    def __del__(self, end=end): end()\nlast = Last()`,
  },
  'a thread': { language: 'python', code: `${PYTHON_END}threading.Thread(target=end).start()` },
  'sys.excepthook': {
    language: 'python',
    code: `${PYTHON_END}sys.excepthook = lambda *_: end()\nraise RuntimeError('the end')`,
  },
  'a listener of exit that cannot hear SIGTERM': {
    language: 'javascript',
    code: `${NODE_END}
process.on('SIGTERM', () => undefined);
process.on('exit', () => {
  say('ending');
  while (!isShort) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20);
  say('ended');
});`,
    stubborn: true,
  },
  'a listener of beforeExit': {
    language: 'javascript',
    code: `${NODE_END}
let said = false;
process.on('beforeExit', () => {
  if (!said) say('ending');
  said = true;
  if (!isShort) setTimeout(() => undefined, 20);
});
process.on('exit', () => say('ended'));`,
  },
  'a listener of uncaughtException': {
    language: 'javascript',
    code: `${NODE_END}
process.on('uncaughtException', () => {
  say('ending');
  if (!isShort) setInterval(() => undefined, 20);
});
process.on('exit', () => say('ended'));
throw new Error('the end');`,
  },
  'a trap of EXIT': { language: 'bash', code: BASH_END },
  'a trap of EXIT without SIGTERM': { language: 'bash', code: `trap '' TERM\n${BASH_END}`, stubborn: true },
};

/** A program that is asked to end while it ends, and then prints something. */
export const ASKED_AT_ITS_END: string = `${PYTHON_END}
signal.signal(signal.SIGTERM, lambda *_: print('asked', flush=True))
atexit.register(end)`;
