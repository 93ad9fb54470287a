import { spawn } from 'node:child_process';
import { chmodSync, closeSync, readFileSync, writeFileSync } from 'node:fs';
import { constants as systemConstants } from 'node:os';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { executorCommand, findInterpreter, type LanguageDefinition } from '../../src/contracts/language.ts';
import { LIMIT_CEILINGS } from '../../src/contracts/limits.ts';
import { connectExecutor, type ExecutorLink } from './executor-link.ts';
import { openReader, openWriter, type OutputPipes } from './output-pipes.ts';
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

/** Starts an executor, which takes over its ends of the pipes; at level namespace within an inner namespace of its own. */
export function startExecutor(
  layout: SandboxLayout,
  language: LanguageDefinition,
  marker: string,
  pipes: OutputPipes,
): ExecutorProcess {
  const [command, ...args] = COMMANDS[layout.level](layout, language);
  const child = expendable(layout, () =>
    spawn(command, args, {
      cwd: layout.workspace,
      detached: true,
      stdio: ['pipe', ...pipes.ends, 'pipe', 'pipe'],
      env: ENVIRONMENTS[layout.level](layout, marker),
    }),
  );
  const ended = new Promise<ProcessEnd>((resolve) => {
    child.once('error', () => resolve({ code: 127, signal: null }));
    child.once('exit', (code, signal) =>
      resolve(layout.level === 'namespace' ? relayedEnd(code, signal) : { code, signal }),
    );
  });
  pipes.handOver();
  const [stdin, , , messagesOut, messagesIn] = child.stdio as unknown as [Writable, null, null, Writable, Readable];
  const { stdout, stderr } = pipes;
  return withLink({ language, pid: child.pid, stdin, stdout, stderr, messagesIn, messagesOut, ended });
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

const COMMANDS: Record<
  SandboxLayout['level'],
  (layout: SandboxLayout, language: LanguageDefinition) => [string, ...string[]]
> = {
  none: directCommand,
  namespace: innerCommand,
  container: droppedCommand,
};

/** What an executor starts with; the job's own variables it gets with its run. In a container the program that drops rights sees the same. */
const ENVIRONMENTS: Record<SandboxLayout['level'], (layout: SandboxLayout, marker: string) => Record<string, string>> =
  {
    none: (layout, marker) => ({ ...hostEnvironment(layout), ...markerVariable(marker) }),
    namespace: hostEnvironment,
    container: ({ workspace }) => ({
      PATH: '/usr/local/bin:/usr/bin:/bin',
      LANG: 'C.UTF-8',
      HOME: workspace,
      TMPDIR: '/tmp',
    }),
  };

function hostEnvironment({ workspace }: SandboxLayout): Record<string, string> {
  return {
    PATH: process.env['PATH'] ?? '/usr/bin:/bin',
    LANG: 'C.UTF-8',
    HOME: workspace,
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

function directCommand(layout: SandboxLayout, language: LanguageDefinition): [string, ...string[]] {
  // An interpreter that is nowhere fails to start, under the name that the message then has.
  const interpreter = findInterpreter(language, process.execPath) ?? language.name;
  return executorCommand(language, interpreter, layout.runtime, layout.memoryMib);
}

/** In a container: user code's id, no groups and no capabilities, not even to gain. */
function droppedCommand(layout: SandboxLayout, language: LanguageDefinition): [string, ...string[]] {
  const ids = [`--reuid=${USER_UID}`, `--regid=${USER_UID}`, '--clear-groups'];
  const sets = ['--inh-caps=-all', '--ambient-caps=-all', '--bounding-set=-all', '--no-new-privs'];
  return ['/usr/bin/setpriv', ...ids, ...sets, ...directCommand(layout, language)];
}

function innerCommand(layout: SandboxLayout, language: LanguageDefinition): [string, ...string[]] {
  return ['/bin/sh', join(layout.runtime, 'launch', 'start-executor.sh'), ...directCommand(layout, language)];
}

/** bubblewrap ends with 128 + n when the program in it was ended by signal n. */
function relayedEnd(code: number | null, signal: string | null): ProcessEnd {
  if (code === null || code <= 128) return { code, signal };
  return { code: null, signal: signalName(code - 128) };
}

function signalName(number: number): string {
  const found = Object.entries(systemConstants.signals).find(([, value]) => value === number);
  return found?.[0] ?? `SIG${number}`;
}

const HELD_DESCRIPTORS = [4, 5, 6, 7, 8, 9];

/** Takes over the executor that the launch script started, or returns `undefined` where there is none. */
export function adoptFirstExecutor(language: LanguageDefinition): ExecutorProcess | undefined {
  const pid = Number(process.env['SKILLCELL_FIRST_EXECUTOR']);
  if (!Number.isInteger(pid) || pid <= 0) return undefined;
  const status = openReader('/run/status');
  let statusText = '';
  status.on('data', (chunk: Buffer) => (statusText += chunk.toString('latin1')));
  const ended = new Promise<ProcessEnd>((resolve) => {
    status.once('close', () => {
      const code = /"exit-code":\s*(\d+)/.exec(statusText)?.[1];
      resolve(code === undefined ? { code: null, signal: 'SIGKILL' } : relayedEnd(Number(code), null));
    });
  });
  const parts = {
    language,
    pid,
    stdin: openWriter('/run/stdin'),
    stdout: openReader('/run/stdout'),
    stderr: openReader('/run/stderr'),
    messagesIn: openReader('/run/from-executor'),
    messagesOut: openWriter('/run/to-executor'),
    ended,
  };
  return withLink(parts, () => {
    for (const descriptor of HELD_DESCRIPTORS) closeSync(descriptor);
    // A program that opened `/dev/stdin` anew would wait for a writer that never comes.
    chmodSync('/run/stdin', 0);
  });
}
