import type { Readable } from 'node:stream';
import type { JobLimits } from '../../../src/contracts/jobs/limits.ts';
import type { StreamWriter } from '../../../src/protocol/channel/channel.ts';
import type { Privileges } from '../../sandbox/privileges.ts';
import type { SandboxLayout } from '../../sandbox/sandbox-layout.ts';
import type { UserProcesses } from '../../sandbox/user-processes.ts';
import type { CallPort } from '../call-port.ts';
import type { ExecutorProcess } from './executor-process.ts';
import type { RunClock } from '../run-clock.ts';
import type { SkillScript } from '../skill-script.ts';

/** One run of user code. */
export interface RunInput {
  executor: ExecutorProcess;
  /** The program, or a script that is already in the sandbox. */
  program: string | SkillScript;
  /** Name of the program in its own messages. */
  fileName: string;
  /** Absolute path of the program. */
  path: string;
  /** Further files of the program, by their path below the working folder. */
  files: readonly { path: string; code: string }[];
  args: string[];
  /** The whole environment of the program. */
  env: Record<string, string>;
  expect: string[];
  limits: JobLimits;
  stdin: Readable | undefined;
  writers: { stdout: StreamWriter; stderr: StreamWriter };
}

/** The parts of the sandbox that a run needs. */
export interface RunSurroundings {
  layout: SandboxLayout;
  processes: UserProcesses;
  privileges: Privileges;
  marker: string;
  calls: CallPort;
  clock: RunClock;
  canceled: AbortSignal;
}
