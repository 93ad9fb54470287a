import type { Readable } from 'node:stream';
import type { Diagnostic } from '../../src/contracts/errors/diagnostic.ts';
import type { RuntimeGlobals } from '../../src/contracts/jobs/globals.ts';
import type { ExecutorStart, Language, LanguageDefinition } from '../../src/contracts/jobs/language.ts';
import type { SkillTrees } from '../../src/contracts/skills/skill.ts';
import type { Channel } from '../../src/protocol/channel/channel.ts';
import type { SessionRequest } from '../../src/protocol/messages/session-messages.ts';
import type { CallPort } from './call-port.ts';
import type { RunClock } from './run-clock.ts';
import type { ExecutorProcess } from './program/executor-process.ts';
import type { Privileges } from '../sandbox/privileges.ts';
import type { SandboxLayout } from '../sandbox/sandbox-layout.ts';
import type { UserProcesses } from '../sandbox/user-processes.ts';

/** The additional parts of a session. */
export interface SessionSurroundings {
  /** Takes the messages that only a session receives. */
  take?(request: SessionRequest): void;
  /** Starts a process with the rights of user code that is not a language's executor. */
  start(command: LanguageDefinition): ExecutorProcess;
}

/** A job and the sandbox that serves it. */
export interface JobSurroundings {
  globals: RuntimeGlobals;
  layout: SandboxLayout;
  processes: UserProcesses;
  privileges: Privileges;
  marker: string;
  channel: Channel;
  calls: CallPort;
  clock: RunClock;
  canceled: AbortSignal;
  trees: SkillTrees;
  /** The paths of the job's input files, once all are in the workspace. */
  filesWritten: Promise<readonly string[]>;
  /** Diagnostics of the result about files in the sandbox. */
  found: Diagnostic[];
  stdin: Readable | undefined;
  /** Returns an executor that has run nothing yet: the waiting executor if it can run this program, else a new one. */
  takeExecutor(language: Language, wanted?: ExecutorStart): ExecutorProcess;
  /** The additional parts of a session; absent for other jobs and for a rehearsal. */
  session?: SessionSurroundings;
}
