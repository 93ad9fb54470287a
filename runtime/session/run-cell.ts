import { diagnostic, type Diagnostic } from '../../src/contracts/errors/diagnostic.ts';
import type { JobLimits } from '../../src/contracts/jobs/limits.ts';
import type { ByteWriter, Channel, StreamWriter } from '../../src/protocol/channel/channel.ts';
import type { SandboxMessage } from '../../src/protocol/messages/messages.ts';
import type { SessionReply, SessionRequest } from '../../src/protocol/messages/session-messages.ts';
import { withinDeadline } from '../../src/protocol/within-deadline.ts';
import { fittingLineEnds, withoutMark } from '../run/fitting-line-ends.ts';
import type { JobSurroundings } from '../run/job-surroundings.ts';
import { endDoubts } from '../run/end-doubts.ts';
import { judge } from '../run/judge-run.ts';
import { captureOutput } from '../run/output-capture.ts';
import type { EndCause } from '../run/program/program-ending.ts';
import { readProgramError, readReportedValue, type ReadValue } from '../run/program/program-report.ts';
import { startWatches } from '../run/watch/run-watches.ts';
import { counted } from '../run/program/executor-link.ts';
import { answerCellCalls, type CellCalls } from './cell-calls.ts';
import { type CellReport, readCellReport } from './cell-report.ts';
import type { Interpreter } from './interpreter.ts';
import { passResults, type ShownResults } from './shown-results.ts';
import { type LanguageDefinition, startVariables } from '../../src/contracts/jobs/language.ts';

/** Variables that take effect although the interpreter has started: it is told of `TZ`, and other programs read the rest as well. */
const HEEDED: ReadonlySet<string> = new Set(['TZ', 'HOME', 'NODE_ENV']);

const PIPE_GRACE_MS = 250;

/** The host's request for a run of a session. */
export type Cell = SessionRequest & { type: 'cell' };

/** The parts of its session that a run needs. */
export interface CellSurroundings {
  around: JobSurroundings;
  interpreter: Interpreter;
  epoch: number;
  /** The losses since the previous run. */
  losses: readonly Diagnostic[];
  /** Whether user code holds or held more memory than allowed in this epoch. See `MemoryWatch.wasOver`. */
  overMemory(mainLives: boolean): boolean;
  /** Ends all interpreters, and releases those that do not run. Returns whether no process of them is left. */
  lose(running?: Interpreter): Promise<boolean>;
}

/** Causes after which an interpreter is killed, not interrupted: it holds or produces too much. */
const FATAL: ReadonlySet<EndCause> = new Set<EndCause>(['output', 'memory', 'workspace', 'inodes']);

/**
 * Runs code in an open interpreter, and sends the result to the host.
 *
 * @param cause the reason to stop, from its caller or one of its clocks; the first reason counts
 */
export async function runCell(
  cell: Cell,
  session: CellSurroundings,
  cause: PromiseWithResolvers<EndCause>,
): Promise<void> {
  const { around, interpreter, epoch, losses } = session;
  const { channel, globals } = around;
  const { executor } = interpreter;
  const limits: JobLimits = { ...globals.JOB.limits, runTimeoutMs: cell.timeoutMs };
  const capture = captureOutput(interpreter.stdout, interpreter.stderr, {
    keptBytes: limits.keptOutputBytes,
    totalBytes: limits.totalOutputBytes,
    onTotal: () => cause.resolve('output'),
    writers: cellOutput(channel, cell.run),
    stays: true,
  });
  const answered = listen(cell, session, limits, cause.resolve);
  const stopWatching = startWatches(around, limits, cause.resolve);
  // Code that arrives as text needs no byte order mark. Python accepts the mark at the start of a file, but refuses it here.
  const { program, diagnostics } = fittingLineEnds(executor.language, withoutMark(cell.code));
  const started = performance.now();
  // A run that is stopped before its start never begins.
  const isSent = (await Promise.race([cause.promise, Promise.resolve()])) === undefined;
  if (isSent) sendCell(interpreter, cell, program);

  const first = await cause.promise;
  if (isSent && first !== 'itself' && !FATAL.has(first)) {
    answered.calls.interrupt();
    const endInterrupts = interruptUntilHeard(interpreter, cell.run, started);
    await withinDeadline(answered.over, { limitMs: limits.graceMs, overdue: () => undefined });
    endInterrupts();
  }
  const own = first === 'itself' || first === 'run-deadline';
  const lives = interpreter.end === undefined;
  const judged: EndCause = own && session.overMemory(lives) ? 'memory' : first;
  const isOver = answered.fields === undefined ? !isSent && lives : !isLeaving(answered.fields);
  const isKept = isOver && !FATAL.has(judged);
  stopWatching();
  answered.calls.close();
  const dead = isKept || (await session.lose(interpreter));
  const runMs = performance.now() - started;
  const isGone = isKept || (dead && around.layout.level !== 'none');
  const isSaid = isKept && first === 'itself';
  const whole = await capture.finish(isSaid ? 'done' : isGone ? 'gone' : 'any', PIPE_GRACE_MS);
  if (!isKept) interpreter.close();
  const report = readCellReport(answered.fields ?? {}, answered.shown);
  const ended: EndCause = judged === 'itself' && capture.overTotal() ? 'output' : judged;
  const found = [
    ...losses,
    ...diagnostics,
    ...lateVariables(executor.language, cell.env ?? {}),
    ...lossOf(isKept, interpreter),
    ...endDoubts('session', dead, whole),
    ...report.diagnostics,
  ];
  const left = answered.fields === undefined ? hasExited(interpreter) : isLeaving(answered.fields);
  const reply = replyOf(cell, session, { report, isKept, left, ended, limits, found });
  await answered.shown.handedOn;
  channel.send({
    ...reply,
    epoch,
    stdoutBytes: capture.stdout().bytes,
    stderrBytes: capture.stderr().bytes,
    runMs,
  } satisfies SandboxMessage);
}

/** The output of a run. Its streams are opened with the first byte, because most runs of a session write nothing. */
function cellOutput(channel: Channel, run: number): Record<'stdout' | 'stderr', ByteWriter> {
  let opened: Record<'stdout' | 'stderr', StreamWriter> | undefined;
  const open = (): Record<'stdout' | 'stderr', StreamWriter> => {
    const streams = { stdout: channel.openStream(), stderr: channel.openStream() };
    const [stdout, stderr] = [streams.stdout.number, streams.stderr.number];
    channel.sendEvent({ type: 'run', run, stdout, stderr } satisfies SandboxMessage);
    return streams;
  };
  const writer = (name: 'stdout' | 'stderr'): ByteWriter => ({
    write: (chunk) => (opened ??= open())[name].write(chunk),
    end: () => opened?.[name].end(),
  });
  return { stdout: writer('stdout'), stderr: writer('stderr') };
}

/** Time in which an interpreter must read the sent code, and the interval of interrupts until then. */
const BEGIN_MS = 1_000;
const AGAIN_MS = 100;

/**
 * Interrupts a run. A signal from before the interpreter runs the code is lost, so it is repeated until the code has surely begun. Code that has been
 * running for long is interrupted once and cleans up undisturbed. Returns a function that ends the interrupts.
 */
function interruptUntilHeard(interpreter: Interpreter, run: number, sentAt: number): () => void {
  interpreter.interrupt(run);
  const timer = setInterval(() => {
    if (performance.now() - sentAt > BEGIN_MS) clearInterval(timer);
    else interpreter.interrupt(run);
  }, AGAIN_MS);
  return () => clearInterval(timer);
}

/** Whether the code of a run ends its interpreter. Then its report is the interpreter's last. */
function isLeaving({ leaving }: Record<string, unknown>): boolean {
  return leaving === true;
}

/** Whether a shell exited without a report, because the code replaced its exit trap or called `exec`. Its exit code is then the code's. */
function hasExited({ executor, end }: Interpreter): boolean {
  return executor.language.reads === 'strings' && end !== undefined && end.signal === null && end.code !== null;
}

/** The error if an interpreter ended without a report on its run. */
const UNSAID = { name: 'InterpreterEnded', message: 'The interpreter ended before the code did.', stack: '' };

function sendCell({ executor }: Interpreter, { run, language, env = {} }: Cell, code: string): void {
  if (executor.language.reads !== 'strings') return executor.link.send({ type: 'cell', run, language, code, env });
  const variables = Object.entries(env).map(([name, value]) => `${name}=${value}`);
  executor.link.sendStrings([`${run}`, code, ...counted(variables)]);
}

/** The messages of an interpreter while it runs a cell. */
interface Answered {
  calls: CellCalls;
  shown: ShownResults;
  /** Its report, once it has arrived. */
  readonly fields: Record<string, unknown> | undefined;
  /** Settles with the report, or the end of the interpreter. */
  over: Promise<void>;
}

/** Listens to an interpreter that is about to run a cell. The next cell replaces the listeners. */
function listen(
  cell: Cell,
  { around, interpreter }: CellSurroundings,
  limits: JobLimits,
  finish: (cause: EndCause) => void,
): Answered {
  const { link } = interpreter.executor;
  const shown = passResults(around.channel, link, cell.run);
  const over = Promise.withResolvers<void>();
  let fields: Record<string, unknown> | undefined;
  const end = (): void => {
    over.resolve();
    finish('itself');
  };
  const calls = answerCellCalls(around.calls, link, {
    refusals: limits.calls,
    onExhausted: () => finish('calls'),
    onFault: end,
  });
  // Parts of calls are numbered from 1.
  link.onBytes = (part, chunk) => (part === 0 ? shown.takeBytes(chunk) : calls.takeBytes(part, chunk));
  link.onCall = (call) => calls.take(call);
  link.onMessage = (message) => {
    if (message.type === 'shown' && fields === undefined) shown.show(message.fields);
    if (message.type !== 'cell' || message.fields['run'] !== cell.run || fields !== undefined) return;
    fields = message.fields;
    // Its process is about to end, and its status counts.
    if (!isLeaving(fields)) end();
  };
  link.onFault = end;
  interpreter.followEnd(end);
  return {
    calls,
    shown,
    get fields() {
      return fields;
    },
    over: over.promise,
  };
}

function lossOf(isKept: boolean, { end }: Interpreter): Diagnostic[] {
  if (isKept) return [];
  const how =
    end === undefined ? '' : end.signal === null ? ` with code ${end.code ?? 'unknown'}` : ` by ${end.signal}`;
  return [
    diagnostic('session.lost', `The interpreter ended${how}, and the definitions of the session's runs are lost.`),
  ];
}

/** The known facts of a finished run. */
interface EndedCell {
  report: CellReport;
  isKept: boolean;
  /** Whether the code itself, and no other cause, has ended its interpreter. */
  left: boolean;
  ended: EndCause;
  limits: JobLimits;
  found: Diagnostic[];
}

type CellReply = Omit<SessionReply & { type: 'cell' }, 'epoch' | 'stdoutBytes' | 'stderrBytes' | 'runMs'>;

function replyOf(cell: Cell, { around, interpreter }: CellSurroundings, run: EndedCell): CellReply {
  const { report, isKept, left, ended, limits, found } = run;
  const own = isKept ? undefined : interpreter.end;
  const { code } = report;
  const exitCode = own === undefined ? (code ?? null) : own.code;
  const error = readProgramError(report.error, cellName(cell.run));
  const succeeded = isKept ? error === undefined && (code ?? 0) === 0 : left && own?.code === 0;
  const verdict = judge(ended, succeeded ? 0 : 1, around.layout, limits);
  const unsaid = isKept || left || ended !== 'itself' ? undefined : UNSAID;
  const shown = verdict.error ?? error ?? unsaid;
  const { value, diagnostics } = valueOf(report, limits.valueBytes);
  return {
    type: 'cell',
    run: cell.run,
    state: isKept ? 'kept' : 'lost',
    outcome: verdict.outcome,
    ...(verdict.limit === undefined ? {} : { limit: verdict.limit }),
    exitCode,
    signal: own?.signal ?? null,
    ...(shown === undefined ? {} : { error: shown }),
    ...(value === undefined ? {} : { value: value.is }),
    diagnostics: [...found, ...diagnostics],
  };
}

function valueOf({ json }: CellReport, maxBytes: number): { value?: { is: unknown }; diagnostics: Diagnostic[] } {
  const read: ReadValue = json === undefined ? { diagnostics: [] } : readReportedValue(json, maxBytes);
  return { ...('value' in read ? { value: { is: read.value } } : {}), diagnostics: read.diagnostics };
}

/** The file name of a run's code in its own messages. */
export function cellName(run: number): string {
  return `cell-${run}`;
}

/** Reports the variables of a run that come too late for its interpreter. */
function lateVariables(language: LanguageDefinition, env: Readonly<Record<string, string>>): Diagnostic[] {
  const late = Object.keys(startVariables(language, env)).filter((name) => !HEEDED.has(name));
  if (late.length === 0) return [];
  const names = late.join(', ').slice(0, 500);
  const message = `${language.title} reads ${names} only at its start, and the interpreter of the session has started: only programs that the run starts use it.`;
  return [diagnostic('variable.late', message)];
}
