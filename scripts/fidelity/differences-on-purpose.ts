import type { Isolation } from '../../src/contracts/jobs/result.ts';

/** A difference on purpose between a job and a plain run. */
export interface DifferenceOnPurpose {
  /** The difference. */
  what: string;
  /** Why the difference is there. */
  reason: string;
  /** The levels with the difference; absent for every level. */
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
  | 'reports'
  | 'waiting';

/** All differences on purpose. A program names its row; docs/languages.md shows the table. */
export const DIFFERENCES_ON_PURPOSE: Readonly<Record<DifferenceName, DifferenceOnPurpose>> = {
  network: {
    what: 'Programs reach no address and resolve no name outside the sandbox',
    reason:
      'A job has no network. It reaches the outside through tools of the host, and named hosts through [the proxy of the host](network.md)',
  },
  'host-files': {
    what: 'A job sees `/usr` and a few files of `/etc` of the machine, or the files of its image',
    reason: 'Other files of the machine may be secret',
  },
  privileges: {
    what: 'No program gains rights: `sudo`, set-user-id programs, user namespaces, mounts and `ptrace` of others fail. Calls of the kernel that ordinary programs do without are refused: System V IPC, `personality` (`setarch`), `ioprio_set` (`ionice`), sockets of rare families. No program starts from `/dev/shm` in a container',
    reason: 'A program with more rights, or with more of the kernel in reach, could leave the sandbox',
  },
  limits: {
    what: '`ulimit`, the sizes of file systems, the count of processors and the size of memory are those of the job',
    reason: 'A job has the limits that its caller gives',
  },
  'own-kernel': {
    what: 'At level `kernel`, gVisor differs from Linux: `statx` by `ls` and `stat`, `/dev/stdin` by its path, files of `/proc`, holes of sparse files, the end of a terminal',
    reason: 'The level puts a kernel of its own between programs and the kernel of the machine',
    levels: ['kernel'],
  },
  'left-processes': {
    what: 'Processes that a program leaves behind end with it',
    reason: 'A run that has ended leaves no process that goes on unseen',
  },
  'whole-output': {
    what: 'All output that a JavaScript program printed before `process.exit` arrives, of any size',
    reason: 'In a plain run the output that does not fit into the pipe is lost',
  },
  require: {
    what: 'A JavaScript module that would fail without `require` has one',
    reason: 'Models mix the two kinds of module; such a program fails at once in a plain run',
  },
  'line-ends': {
    what: 'A bash program with Windows line ends runs without the carriage returns, with the diagnostic `program.line-ends`',
    reason: 'Such a program fails at its first line in a plain run',
  },
  'byte-order-mark': {
    what: 'A byte order mark before a bash program is dropped',
    reason: 'In a plain run bash does not find the first command, often `set -e`, and runs the rest without it',
  },
  reports: {
    what: 'Node has one more listener for each of the events `exit` and `uncaughtExceptionMonitor` of `process`; Python has one more function in `atexit` and a handler of the highest signal; Node has the descriptors 62 and 63, and warns of many listeners at the tenth of the program instead of the eleventh; `sys.meta_path` ends with the finder of `skillcell`; an uncaught error describes itself again, and an exported value may run its `toJSON`; at level `none` the variable `SKILLCELL_JOB_MARK` is there',
    reason:
      'They report the value and the error of the program, write its buffered output when its time is over, and find its processes',
  },
  waiting: {
    what: 'In a warm sandbox the interpreter started before the program: `performance.now()` and `process.uptime()` of Node count from that start, and `/proc/self/cmdline` of Node names no arguments, and a file `main`',
    reason: 'An interpreter that waits answers in less time than a new one starts',
  },
  skillcell: {
    what: 'A program can import the module `skillcell`',
    reason: 'A program sets its value and calls tools through it',
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
