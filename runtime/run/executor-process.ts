import { spawn } from 'node:child_process';
import { closeSync, readFileSync, writeFileSync } from 'node:fs';
import { constants as systemConstants } from 'node:os';
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
} from '../../src/contracts/language.ts';
import { LIMIT_CEILINGS } from '../../src/contracts/limits.ts';
import { connectExecutor, type ExecutorLink } from './executor-link.ts';
import { openReader, openWriter, type ProgramPipes } from './program-pipes.ts';
import { USER_UID } from '../sandbox/privileges.ts';
import type { SandboxLayout } from '../sandbox/sandbox-layout.ts';

/** How a process ended. */
export interface ProcessEnd {
  code: number | null;
  signal: string | null;
}

/** A started executor. The streams end when the last process that holds them ends. */
export interface ExecutorProcess {
  language: LanguageDefinition;
  /** The program and the variables that its interpreter was started with. */
  start: ExecutorStart;
  pid: number | undefined;
  stdin: Writable;
  stdout: Readable;
  stderr: Readable;
  messagesIn: Readable;
  messagesOut: Writable;
  link: ExecutorLink;
  /** Resolves when the executor is loaded and waits for its run. */
  waiting: Promise<void>;
  ended: Promise<ProcessEnd>;
}

/** Room for a value, whose JSON is a text of JSON here and can take twice its bytes, and for the texts of an error. */
export const MAX_EXECUTOR_MESSAGE: number = 2 * LIMIT_CEILINGS.valueBytes + 2 * 1024 * 1024;

/** The start of an executor that has no program yet. */
export function waitingStart(layout: SandboxLayout, language: LanguageDefinition): ExecutorStart {
  return { program: waitingProgram(language, layout.workspace), env: baseVariables(layout) };
}

/** The start that a program needs: its interpreter reads some of its variables then, and may have to know its path. */
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

/** Whether an executor was started as a program needs it. */
export function isStartedFor({ start, language }: ExecutorProcess, needed: ExecutorStart): boolean {
  const [given, wanted] = [startVariables(language, start.env), needed.env];
  const names = Object.keys(given);
  const isSame = names.length === Object.keys(wanted).length && names.every((name) => given[name] === wanted[name]);
  return isSame && start.program === needed.program;
}

/** Starts an executor, which takes over its ends of the pipes; at level namespace within an inner namespace of its own. */
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
      // An interpreter that looks around when it starts remembers, of a folder that the job's files are yet to come to, that they are not there.
      cwd: '/',
      detached: true,
      stdio: [...pipes.ends, ...(layout.level === 'namespace' ? ['pipe' as const, 'pipe' as const] : [])],
      env: ENVIRONMENTS[layout.level](layout, marker),
    }),
  );
  const gone = new Promise<ProcessEnd>((resolve) => {
    child.once('error', () => resolve({ code: 127, signal: null }));
    child.once('exit', (code, signal) => resolve({ code, signal }));
  });
  pipes.handOver();
  const { handOver: _, ends: __, ...streams } = pipes;
  const statuses = child.stdio.slice(5) as Readable[];
  const parts = { language, start, pid: child.pid, ...streams };
  const ended = layout.level === 'namespace' ? relayedEnd(statuses, gone) : gone;
  return withLink({ ...parts, ended });
}

function withLink(parts: Omit<ExecutorProcess, 'link' | 'waiting'>, onWaiting?: () => void): ExecutorProcess {
  const link = connectExecutor(parts.messagesIn, parts.messagesOut, MAX_EXECUTOR_MESSAGE);
  const waiting = new Promise<void>((resolve) => {
    link.onMessage = (message) => {
      if (message.type !== 'waiting') return;
      onWaiting?.();
      resolve();
    };
  });
  return { ...parts, link, waiting };
}

type Command = (layout: SandboxLayout, language: LanguageDefinition, start: ExecutorStart) => [string, ...string[]];

const COMMANDS: Record<SandboxLayout['level'], Command> = {
  none: directCommand,
  namespace: innerCommand,
  container: droppedCommand,
};

/** Variables that every program has, and that interpreters read when they start. */
function baseVariables({ workspace }: SandboxLayout): Record<string, string> {
  return { LANG: 'C.UTF-8', HOME: workspace };
}

/**
 * The environment of the first process of an executor. The variables of a run that the interpreter reads come behind all that drops rights
 * and makes namespaces, which they must not reach.
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
 * In a container: starts a process that goes first when memory is short. It has the score of this one from its first moment;
 * neither raising the own score nor taking that back needs a right.
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
  // An interpreter that is nowhere fails to start, under the name that the message then has.
  const interpreter = findInterpreter(language, process.execPath) ?? language.name;
  return executorWords(language, interpreter, layout.runtime, layout.memoryMib, start);
}

function directCommand(...given: Parameters<Command>): [string, ...string[]] {
  return ['/usr/bin/env', ...words(...given)];
}

/** In a container: user code's id, no groups and no capabilities, not even to gain. */
function droppedCommand(...given: Parameters<Command>): [string, ...string[]] {
  const ids = [`--reuid=${USER_UID}`, `--regid=${USER_UID}`, '--clear-groups'];
  const sets = ['--inh-caps=-all', '--ambient-caps=-all', '--bounding-set=-all', '--no-new-privs'];
  return ['/usr/bin/setpriv', ...ids, ...sets, ...directCommand(...given)];
}

function innerCommand(...[layout, language, start]: Parameters<Command>): [string, ...string[]] {
  return ['/bin/sh', join(layout.runtime, 'launch', 'start-executor.sh'), shellWords(words(layout, language, start))];
}

/**
 * The end of a program at level namespace: as `wait-for-program.pl` tells it, or, where that was killed or there is no perl, as bubblewrap does.
 *
 * @param statuses take the words of both
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
      // bubblewrap's word comes behind the other one, which may wait in the other pipe.
      if (waitedEnd(text) !== undefined) tell();
      else setImmediate(() => setImmediate(tell));
    });
    status.on('error', () => undefined);
  }
  void gone.then(tell);
  void told.then(() => statuses.forEach((status) => status.destroy()));
  return told;
}

/** A wait status as wait(2) gives it. */
function waitedEnd(text: string): ProcessEnd | undefined {
  const digits = /^status (\d{1,5})$/m.exec(text)?.[1];
  if (digits === undefined) return undefined;
  const signal = Number(digits) & 0x7f;
  return signal === 0 ? { code: Number(digits) >> 8, signal: null } : { code: null, signal: signalName(signal) };
}

/** bubblewrap ends with 128 + n for a program that signal n ended. */
function shellEnd(text: string): ProcessEnd | undefined {
  const digits = /"exit-code":\s*(\d{1,3})\b/.exec(text)?.[1];
  if (digits === undefined) return undefined;
  const code = Number(digits);
  return code <= 128 ? { code, signal: null } : { code: null, signal: signalName(code - 128) };
}

function signalName(number: number): string {
  const found = Object.entries(systemConstants.signals).find(([, value]) => value === number);
  return found?.[0] ?? `SIG${number}`;
}

const HELD_DESCRIPTORS = [4, 5, 6, 7, 8, 9];

/** Takes over the executor that the launch script started, or returns `undefined` where there is none. */
export function adoptFirstExecutor(layout: SandboxLayout, language: LanguageDefinition): ExecutorProcess | undefined {
  const pid = Number(process.env['SKILLCELL_FIRST_EXECUTOR']);
  if (!Number.isInteger(pid) || pid <= 0) return undefined;
  const status = openReader('/run/status');
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
    ended: relayedEnd([status], ended),
  };
  return withLink(parts, () => {
    for (const descriptor of HELD_DESCRIPTORS) closeSync(descriptor);
  });
}
