import type { Isolation } from '../../src/contracts/result.ts';

/** Something in which a job differs from a plain run on purpose. */
export interface DifferenceOnPurpose {
  /** What differs. */
  what: string;
  /** Why it is meant to. */
  reason: string;
  /** Where it differs; absent for every level. */
  levels?: readonly Isolation[];
}

/** Names of the rows. */
export type DifferenceName =
  | 'network'
  | 'host-files'
  | 'privileges'
  | 'limits'
  | 'own-kernel'
  | 'left-processes'
  | 'whole-output'
  | 'require'
  | 'line-ends'
  | 'byte-order-mark'
  | 'skillcell'
  | 'reports';

/** All that differs on purpose. A program names its row; docs/languages.md shows the table. */
export const DIFFERENCES_ON_PURPOSE: Readonly<Record<DifferenceName, DifferenceOnPurpose>> = {
  network: {
    what: 'No address outside the sandbox is reached, and no name outside it is resolved',
    reason: 'A job has no network; tools of the host are its way out',
  },
  'host-files': {
    what: "Of the machine's files a job sees `/usr` and a few of `/etc`, or those of its image",
    reason: 'What lies elsewhere may be secret',
  },
  privileges: {
    what: 'No program gains rights: `sudo`, set-user-id programs, user namespaces, mounts and `ptrace` of others fail',
    reason: 'A way to more rights is a way out',
  },
  limits: {
    what: '`ulimit`, the sizes of file systems and counts of processors and memory are those of the job',
    reason: 'A job has the limits that its caller gives',
  },
  'own-kernel': {
    what: 'At level `kernel`, what gVisor does otherwise than Linux: `statx` by `ls` and `stat`, `/dev/stdin` by its path, files of `/proc`, holes of sparse files, the end of a terminal',
    reason: 'A kernel between programs and that of the machine is what the level is for',
    levels: ['kernel'],
  },
  'left-processes': {
    what: 'Processes that a program leaves behind end with it',
    reason: 'A run is over when it says so; nothing of it goes on unseen',
  },
  'whole-output': {
    what: 'All that a JavaScript program printed before `process.exit` arrives, however much it is',
    reason: 'Plainly, what the pipe has no room for is lost',
  },
  require: {
    what: 'A module in JavaScript that would fail for want of `require` finds one',
    reason: 'Models mix the two kinds of module; such a program would otherwise fail at once',
  },
  'line-ends': {
    what: 'A bash program whose lines end as Windows ends them runs without the carriage returns, with the diagnostic `program.line-ends`',
    reason: 'It would otherwise fail at its first line',
  },
  'byte-order-mark': {
    what: 'A byte order mark before a bash program is dropped',
    reason: 'Its first command, often `set -e`, would otherwise not be found, and the rest would run without it',
  },
  reports: {
    what: 'One listener each of `exit` and `uncaughtExceptionMonitor` of `process`, one function in `atexit` and one handler of the highest signal in Python; the first file that a Node program opens has the descriptor 3',
    reason:
      'They tell the value and the error of the program, and write what it has printed when its time is over; nothing else of ours is in its process',
  },
  skillcell: {
    what: 'The module `skillcell` is there to import',
    reason: 'It is how a program sets a value and calls tools',
  },
};

/** The names of all rows, in the order of the table. */
export function differenceNames(): [DifferenceName, ...DifferenceName[]] {
  return Object.keys(DIFFERENCES_ON_PURPOSE) as [DifferenceName, ...DifferenceName[]];
}

/** Whether a row of the table explains a difference at a level. */
export function isOnPurposeAt(name: DifferenceName, level: Isolation): boolean {
  return DIFFERENCES_ON_PURPOSE[name].levels?.includes(level) ?? true;
}
