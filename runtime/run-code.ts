import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import type { Diagnostic } from '../src/contracts/diagnostic.ts';
import type { Language } from '../src/contracts/job.ts';
import type { JobLimits } from '../src/contracts/limits.ts';
import type { LimitName, ProgramError } from '../src/contracts/result.ts';
import type { StreamWriter } from '../src/protocol/channel.ts';
import type { CancelReason } from '../src/protocol/messages.ts';
import { answerCalls, type CallPort } from './answer-calls.ts';
import { missingOutputs } from './collect-output.ts';
import type { ExecutorLink, ExecutorMessage } from './executor-link.ts';
import { type ExecutorProcess, markerVariable, type ProcessEnd } from './executor-process.ts';
import { writeFileBelow } from './incoming-streams.ts';
import { watchMemory } from './memory-watch.ts';
import { captureOutput } from './output-capture.ts';
import { readProgramError, readProgramValue } from './program-report.ts';
import type { Privileges } from './privileges.ts';
import { reopenFolder } from './reopen-folder.ts';
import type { RunOutcome } from './run-outcome.ts';
import type { SandboxLayout } from './sandbox-layout.ts';
import type { UserProcesses } from './user-processes.ts';
import { exceededLimit, exhaustedFileSystem, watchWorkspace, type WorkspaceLimits } from './workspace-usage.ts';

const MIB = 1024 * 1024;
/** How long a dead program's pipes may still hold bytes. */
const PIPE_GRACE_MS = 250;
const KILL_TIMEOUT_MS = 5_000;

/** One run of user code. */
export interface RunInput {
  executor: ExecutorProcess;
  code: string;
  fileName: string;
  language: Language;
  args: string[];
  env: Record<string, string>;
  expect: string[];
  limits: JobLimits;
  stdin: Readable | undefined;
  writers: { stdout: StreamWriter; stderr: StreamWriter };
}

/** What a run needs of the sandbox around it. */
export interface RunSurroundings {
  layout: SandboxLayout;
  processes: UserProcesses;
  privileges: Privileges;
  marker: string;
  calls: CallPort;
  canceled: AbortSignal;
}

/** Why a run ended: by itself, or by one of ours. The first one counts. */
type EndCause = 'itself' | 'run-deadline' | CancelReason | 'output' | 'memory' | 'workspace' | 'inodes';

/** Runs user code, ends all of its processes, and says what came of it. */
export async function runCode(input: RunInput, around: RunSurroundings): Promise<RunOutcome> {
  const { executor, limits } = input;
  const { layout, privileges, processes } = around;
  privileges.restore();
  const path = privileges.asUser(() => placeProgram(layout, input.fileName, input.code));
  // The clock of the program starts with the program, not with its interpreter.
  await Promise.race([executor.waiting, executor.ended]);

  let exit: (ExecutorMessage & { type: 'exit' }) | undefined;
  /** What the program said last of itself. */
  let report: { error?: unknown; json?: unknown } = {};
  let end: ProcessEnd | undefined;
  let cause: EndCause | undefined;
  let settleCause: (cause: EndCause) => void = () => undefined;
  const caused = new Promise<EndCause>((resolve) => (settleCause = resolve));
  const finish = (reason: EndCause): void => {
    cause ??= reason;
    settleCause(cause);
  };
  let programEnded: () => void = () => undefined;
  const ownEnd = new Promise<void>((resolve) => (programEnded = resolve));

  const { link } = executor;
  const saidAll = new Promise<void>((resolve) => executor.messagesIn.once('close', resolve));
  const calls = answerCalls(around.calls, link, { refusals: limits.calls, onExhausted: () => finish('calls') });
  link.onMessage = (message) => {
    if (message.type === 'call') calls.take(message);
    else if (message.type === 'error') report = message;
    else if (message.type === 'exit' && exit === undefined) {
      exit = message;
      report = message;
      programEnded();
      finish('itself');
    }
  };
  link.onFault = () => {
    programEnded();
    finish('itself');
  };
  void executor.ended.then((ended) => {
    end = ended;
    programEnded();
    finish('itself');
  });

  const capture = captureOutput(executor.stdout, executor.stderr, {
    keptBytes: limits.keptOutputBytes,
    totalBytes: limits.totalOutputBytes,
    onTotal: () => finish('output'),
    writers: input.writers,
  });
  const stops = startWatches(around, limits, finish);
  const onCancel = (): void => finish(around.canceled.reason as CancelReason);
  if (around.canceled.aborted) onCancel();
  around.canceled.addEventListener('abort', onCancel, { once: true });

  const started = performance.now();
  sendRun(link, input, around, path);
  feedStdin(executor, input.stdin);

  const ended = await caused;
  if (ended === 'run-deadline' || ended === 'timeout' || ended === 'canceled') {
    processes.terminate();
    await Promise.race([ownEnd, delay(limits.graceMs)]);
  }
  for (const stop of stops) stop();
  around.canceled.removeEventListener('abort', onCancel);
  calls.close();
  input.stdin?.unpipe();
  const clean = await processes.killAll(KILL_TIMEOUT_MS);
  const runMs = performance.now() - started;
  // What it said at its end may still be in the pipe. Without an exit message the process's own end says how it went.
  if (exit === undefined) await Promise.race([saidAll, delay(PIPE_GRACE_MS)]);
  if (exit === undefined) end ??= await Promise.race([executor.ended, delay(KILL_TIMEOUT_MS).then(() => undefined)]);
  await capture.finish(clean, PIPE_GRACE_MS);
  for (const stream of [executor.stdin, executor.messagesIn, executor.messagesOut]) stream.destroy();

  const diagnostics: Diagnostic[] = [];
  if (!clean) {
    diagnostics.push({
      code: 'processes.left',
      severity: 'error',
      message: 'Some processes of the program could not be ended in time; they end with the sandbox.',
    });
  }
  const error = readProgramError(report.error, input.fileName);
  const { value, missing } = privileges.asUser(() => {
    // A program may have taken its own folders' permissions away; what is in them is still its result.
    [layout.workspace, layout.value].forEach(reopenFolder);
    return {
      value: readProgramValue(report.json, layout.value, limits.valueBytes),
      missing: missingOutputs(layout.output, input.expect),
    };
  });
  const verdict = judge(ended, exit?.code ?? end?.code ?? null, layout, limits);
  return {
    ...verdict,
    exitCode: exit?.code ?? end?.code ?? null,
    signal: exit === undefined ? (end?.signal ?? null) : null,
    stdout: capture.stdout(),
    stderr: capture.stderr(),
    ...contractVerdict(verdict, error, missing),
    ...('value' in value ? { value: value.value } : {}),
    missing,
    diagnostics: [...diagnostics, ...value.diagnostics],
    runMs,
  };
}

type Verdict = Pick<RunOutcome, 'outcome' | 'limit' | 'error'>;

function judge(cause: EndCause, code: number | null, layout: SandboxLayout, limits: JobLimits): Verdict {
  switch (cause) {
    case 'run-deadline':
      return { outcome: 'timeout', error: clockError('RunTimeout', 'The program', limits.runTimeoutMs) };
    case 'timeout':
      return { outcome: 'timeout', error: clockError('JobTimeout', 'The job', limits.jobTimeoutMs) };
    case 'canceled':
      return { outcome: 'canceled' };
    case 'memory':
      return { outcome: 'out_of_memory' };
    case 'output':
    case 'workspace':
    case 'inodes':
    case 'calls':
      return { outcome: 'limit', limit: cause };
    case 'itself': {
      // A fast program passes a limit that is only watched, and ends, between two looks.
      const over = layout.watchWorkspace ? exceededLimit(layout.workspace, workspaceLimits(limits)) : undefined;
      if (over !== undefined) return { outcome: 'limit', limit: over };
      if (code === 0) return { outcome: 'succeeded' };
      const full: LimitName | undefined = layout.watchWorkspace ? undefined : exhaustedFileSystem(layout.workspace);
      return full === undefined ? { outcome: 'failed' } : { outcome: 'limit', limit: full };
    }
  }
}

/** The program's own error goes before ours; a run whose declared outputs are missing has failed. */
function contractVerdict(verdict: Verdict, error: ProgramError | undefined, missing: string[]): Partial<RunOutcome> {
  if (verdict.error !== undefined) return {};
  if (error !== undefined) return { error };
  if (verdict.outcome !== 'succeeded' || missing.length === 0) return {};
  const message = `Declared outputs are missing: ${missing.join(', ')}.`;
  return { outcome: 'failed', error: { name: 'ContractError', message, stack: '' } };
}

function clockError(name: string, what: string, milliseconds: number): ProgramError {
  return { name, message: `${what} took longer than ${milliseconds / 1000} s.`, stack: '' };
}

function startWatches(around: RunSurroundings, limits: JobLimits, finish: (cause: EndCause) => void): (() => void)[] {
  const timer = setTimeout(() => finish('run-deadline'), limits.runTimeoutMs);
  const stops = [() => clearTimeout(timer)];
  const { layout, processes } = around;
  if (layout.watchMemory) stops.push(watchMemory(processes, limits.memoryMib * MIB, () => finish('memory')));
  if (layout.watchWorkspace) {
    stops.push(watchWorkspace(layout.workspace, workspaceLimits(limits), finish));
  }
  return stops;
}

function workspaceLimits(limits: JobLimits): WorkspaceLimits {
  return { bytes: limits.workspaceMib * MIB, inodes: limits.workspaceInodes };
}

/** Writes the program to the workspace byte for byte. What an earlier run left at its place is removed, not followed. */
function placeProgram(layout: SandboxLayout, fileName: string, code: string): string {
  const path = join(layout.workspace, fileName);
  rmSync(path, { force: true, recursive: true });
  rmSync(join(layout.value, 'value.json'), { force: true, recursive: true });
  mkdirSync(layout.output, { recursive: true });
  writeFileBelow(layout.workspace, { path: fileName, bytes: Buffer.from(code), executable: false });
  return path;
}

function sendRun(link: ExecutorLink, input: RunInput, around: RunSurroundings, path: string): void {
  const { layout, marker } = around;
  const env: Record<string, string> = {
    PATH: process.env['PATH'] ?? '/usr/local/bin:/usr/bin:/bin',
    LANG: 'C.UTF-8',
    HOME: layout.workspace,
    TMPDIR: layout.level === 'none' ? layout.workspace : '/tmp',
    WORKSPACE: layout.workspace,
    SKILLCELL_OUTPUT: layout.output,
    SKILLCELL_VALUE: join(layout.value, 'value.json'),
    SKILLS_DIR: layout.skills,
    ...input.env,
    ...(layout.level === 'none' ? markerVariable(marker) : {}),
  };
  if (input.language === 'bash') {
    const variables = Object.entries(env).map(([name, value]) => `${name}=${value}`);
    link.sendStrings([`${variables.length}`, ...variables, `${input.args.length}`, ...input.args, path]);
    return;
  }
  link.send({ type: 'run', path, args: input.args, env, cwd: layout.workspace, skills: layout.skills });
}

function feedStdin(executor: ExecutorProcess, stdin: Readable | undefined): void {
  // A program may end, or close its stdin, before all of it is written.
  executor.stdin.on('error', () => undefined);
  if (stdin === undefined) executor.stdin.end();
  else stdin.pipe(executor.stdin);
}

function delay(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds).unref());
}
