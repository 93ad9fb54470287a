import { spawn } from 'node:child_process';
import { closeSync, constants, openSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import {
  executorWords,
  findInterpreter,
  shellWords,
  startVariables,
  waitingProgram,
  type ExecutorStart,
  type LanguageDefinition,
} from '../../../src/contracts/jobs/language.ts';
import { LIMIT_CEILINGS } from '../../../src/contracts/jobs/limits.ts';
import { connectExecutor, type ExecutorLink } from './executor-link.ts';
import { createStarter, type InterpreterStarter } from './interpreter-starter.ts';
import { openReader, openWriter, socketOf, type ProgramPipes } from './program-pipes.ts';
import { endOfStatus, type ProcessEnd, signalName } from './wait-status.ts';
import { USER_UID } from '../../sandbox/privileges.ts';
import type { SandboxLayout } from '../../sandbox/sandbox-layout.ts';

/** A started executor. The streams end when the last process that holds them ends. */
export interface ExecutorProcess {
  language: LanguageDefinition;
  /** The program's path and the variables with which its interpreter was started. */
  start: ExecutorStart;
  pid: number | undefined;
  stdin: Writable;
  stdout: Readable;
  stderr: Readable;
  messagesIn: Readable;
  messagesOut: Writable;
  /** Replaces the waiting interpreter; absent outside level namespace. */
  starter?: InterpreterStarter;
  link: ExecutorLink;
  /** Resolves when the executor has loaded and waits for its run. */
  waiting: Promise<void>;
  ended: Promise<ProcessEnd>;
}

/** Room for a value and the texts of an error. The value is JSON inside a JSON string, which can take twice its bytes. */
export const MAX_EXECUTOR_MESSAGE: number = 2 * LIMIT_CEILINGS.valueBytes + 2 * 1024 * 1024;

/** The start of an executor that waits for a program. */
export function waitingStart(layout: SandboxLayout, language: LanguageDefinition): ExecutorStart {
  return { program: waitingProgram(language, layout.workspace), env: baseVariables(layout) };
}

/** The start that a program needs: the interpreter reads some variables at its start, and may need the program's path. */
export function neededStart(
  layout: SandboxLayout,
  language: LanguageDefinition,
  { program, env, cwd }: ExecutorStart,
): ExecutorStart {
  const path = language.namedAtStart === true ? program : waitingProgram(language, layout.workspace);
  return {
    program: path,
    env: { ...startVariables(language, baseVariables(layout)), ...startVariables(language, env) },
    cwd: cwd ?? layout.workspace,
  };
}

/** Whether an executor has the start that a program needs. */
export function isStartedFor({ start, language }: ExecutorProcess, needed: ExecutorStart): boolean {
  const [given, wanted] = [startVariables(language, start.env), needed.env];
  const names = Object.keys(given);
  const isSame = names.length === Object.keys(wanted).length && names.every((name) => given[name] === wanted[name]);
  return isSame && start.program === needed.program;
}

/** Starts an executor and gives it the program's ends of the pipes. At level namespace it gets an inner namespace of its own. */
export function startExecutor(
  layout: SandboxLayout,
  language: LanguageDefinition,
  marker: string,
  pipes: ProgramPipes,
  start: ExecutorStart = waitingStart(layout, language),
): ExecutorProcess {
  const [command, ...args] = COMMANDS[layout.level](layout, language, start);
  const child = expendable(layout, () =>
    spawn(command, args, {
      // An interpreter may list its folder at its start. In the working folder it would remember that the job's files, which arrive later, are
      // missing.
      cwd: '/',
      detached: true,
      stdio: [...pipes.ends, ...(layout.level === 'namespace' ? (['pipe', 'pipe', 'pipe'] as const) : [])],
      env: ENVIRONMENTS[layout.level](layout, marker),
    }),
  );
  const gone = new Promise<ProcessEnd>((resolve) => {
    child.once('error', () => resolve({ code: 127, signal: null }));
    child.once('exit', (code, signal) => resolve({ code, signal }));
  });
  pipes.handOver();
  const { handOver: _, ends: __, ...streams } = pipes;
  const parts = { language, start, pid: child.pid, ...streams };
  if (layout.level !== 'namespace') return withLink({ ...parts, ended: gone });
  const [bubblewrap, perl, requests] = child.stdio.slice(5) as [Readable, Readable, Writable];
  return withLink({ ...parts, starter: createStarter(requests), ended: relayedEnd([bubblewrap, perl], gone) });
}

function withLink(parts: Omit<ExecutorProcess, 'link' | 'waiting'>): ExecutorProcess {
  const link = connectExecutor(parts.messagesIn, parts.messagesOut, MAX_EXECUTOR_MESSAGE);
  return { ...parts, link, waiting: untilWaiting(link) };
}

function untilWaiting(link: ExecutorLink): Promise<void> {
  return new Promise((resolve) => {
    link.onMessage = ({ type }) => {
      if (type === 'waiting') resolve();
    };
  });
}

/**
 * Replaces a waiting executor by one with another start, in the same namespace and with the same pipes. Returns `undefined` if that is not possible.
 */
export function replaceExecutor(
  layout: SandboxLayout,
  executor: ExecutorProcess,
  language: LanguageDefinition,
  start: ExecutorStart = waitingStart(layout, language),
): ExecutorProcess | undefined {
  const { starter, link } = executor;
  if (starter === undefined || !starter.isOpen) return undefined;
  // An executor that has not loaded yet would still report that it waits.
  const waiting = executor.waiting.then(() => {
    const again = untilWaiting(link);
    starter.replace(words(layout, language, start));
    return again;
  });
  return { ...executor, language, start, waiting };
}

type Command = (layout: SandboxLayout, language: LanguageDefinition, start: ExecutorStart) => [string, ...string[]];

const COMMANDS: Record<SandboxLayout['level'], Command> = {
  none: directCommand,
  namespace: innerCommand,
  container: droppedCommand,
};

/** Variables of every program that interpreters read when they start. */
function baseVariables({ workspace }: SandboxLayout): Record<string, string> {
  return { LANG: 'C.UTF-8', HOME: workspace };
}

/**
 * The environment of an executor's first process. The variables of a run are set later, by the `env` that starts the interpreter: they
 * must not reach the programs that drop rights and make namespaces.
 */
const ENVIRONMENTS: Record<SandboxLayout['level'], (layout: SandboxLayout, marker: string) => Record<string, string>> =
  {
    none: (layout, marker) => ({ ...hostEnvironment(layout), ...markerVariable(marker) }),
    namespace: hostEnvironment,
    container: (layout) => ({
      PATH: '/usr/local/bin:/usr/bin:/bin',
      ...baseVariables(layout),
      TMPDIR: '/tmp',
    }),
  };

function hostEnvironment(layout: SandboxLayout): Record<string, string> {
  return {
    PATH: process.env['PATH'] ?? '/usr/bin:/bin',
    ...baseVariables(layout),
    SKILLCELL_NPROC: process.env['SKILLCELL_NPROC'] ?? '0',
  };
}

const OWN_SCORE = '/proc/self/oom_score_adj';

/**
 * In a container: starts a process that the kernel kills first when memory is short. The process inherits this process's score, so it
 * has that score from its first moment. A process may raise its own score and restore it without any right.
 */
function expendable<T>({ level }: SandboxLayout, start: () => T): T {
  if (level !== 'container') return start();
  const own = readFileSync(OWN_SCORE, 'utf8');
  writeFileSync(OWN_SCORE, '1000');
  try {
    return start();
  } finally {
    writeFileSync(OWN_SCORE, own);
  }
}

/** The variable that marks a job's processes at level none. */
export function markerVariable(marker: string): Record<string, string> {
  return { SKILLCELL_JOB_MARK: marker };
}

function words(layout: SandboxLayout, language: LanguageDefinition, start: ExecutorStart): string[] {
  // If the interpreter is missing, the start fails, and the message shows the name of the language.
  const interpreter = findInterpreter(language, process.execPath) ?? language.name;
  return executorWords(language, interpreter, layout.runtime, layout.memoryMib, start);
}

function directCommand(...given: Parameters<Command>): [string, ...string[]] {
  return ['/usr/bin/env', ...words(...given)];
}

/** In a container: the id of user code, without groups, without capabilities and without a way to gain any. */
function droppedCommand(...given: Parameters<Command>): [string, ...string[]] {
  const ids = [`--reuid=${USER_UID}`, `--regid=${USER_UID}`, '--clear-groups'];
  const sets = ['--inh-caps=-all', '--ambient-caps=-all', '--bounding-set=-all', '--no-new-privs'];
  return ['/usr/bin/setpriv', ...ids, ...sets, ...directCommand(...given)];
}

function innerCommand(...[layout, language, start]: Parameters<Command>): [string, ...string[]] {
  return ['/bin/sh', join(layout.runtime, 'launch', 'start-executor.sh'), shellWords(words(layout, language, start))];
}

/**
 * The end of a program at level namespace. `wait-for-program.pl` reports it; bubblewrap reports it if perl is missing or was killed.
 *
 * @param statuses the pipes of both reports
 */
function relayedEnd(statuses: readonly Readable[], gone: Promise<ProcessEnd>): Promise<ProcessEnd> {
  let text = '';
  const { promise: told, resolve } = Promise.withResolvers<ProcessEnd>();
  const tell = (otherwise?: ProcessEnd): void => {
    const end = waitedEnd(text) ?? shellEnd(text) ?? otherwise;
    if (end !== undefined) resolve(end);
  };
  for (const status of statuses) {
    status.on('data', (chunk: Buffer) => {
      text += chunk.toString('latin1');
      // bubblewrap reports after perl, whose report may still wait in the other pipe.
      if (waitedEnd(text) !== undefined) tell();
      else setImmediate(() => setImmediate(tell));
    });
    status.on('error', () => undefined);
  }
  void gone.then(tell);
  void told.then(() => statuses.forEach((status) => status.destroy()));
  return told;
}

/** A wait status of wait(2). */
function waitedEnd(text: string): ProcessEnd | undefined {
  const digits = /^status (\d{1,5})$/m.exec(text)?.[1];
  return digits === undefined ? undefined : endOfStatus(Number(digits));
}

/** bubblewrap ends with 128 + n when signal n ended its program. */
function shellEnd(text: string): ProcessEnd | undefined {
  const digits = /"exit-code":\s*(\d{1,3})\b/.exec(text)?.[1];
  if (digits === undefined) return undefined;
  const code = Number(digits);
  return code <= 128 ? { code, signal: null } : { code: null, signal: signalName(code - 128) };
}

const HELD_DESCRIPTORS = [4, 5, 6, 7, 8, 9];

/** Takes over the executor that the launch script started. Returns `undefined` if the script started none. */
export function adoptFirstExecutor(layout: SandboxLayout, language: LanguageDefinition): ExecutorProcess | undefined {
  const pid = Number(process.env['SKILLCELL_FIRST_EXECUTOR']);
  if (!Number.isInteger(pid) || pid <= 0) return undefined;
  const status = openReader('/run/status');
  // perl may not have opened its end yet.
  const requests = socketOf(openSync('/run/requests', constants.O_RDWR | constants.O_NONBLOCK));
  const ended = new Promise<ProcessEnd>((resolve) => {
    status.once('close', () => resolve({ code: null, signal: 'SIGKILL' }));
  });
  const parts = {
    language,
    start: waitingStart(layout, language),
    pid,
    stdin: openWriter('/run/stdin'),
    stdout: openReader('/run/stdout'),
    stderr: openReader('/run/stderr'),
    messagesIn: openReader('/run/from-executor'),
    messagesOut: openWriter('/run/to-executor'),
    starter: createStarter(requests),
    ended: relayedEnd([status], ended),
  };
  const executor = withLink(parts);
  void executor.waiting.then(() => HELD_DESCRIPTORS.forEach((descriptor) => closeSync(descriptor)));
  return executor;
}
