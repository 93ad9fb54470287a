import { diagnostic, type Diagnostic } from '../../src/contracts/errors/diagnostic.ts';
import type { JobLimits } from '../../src/contracts/jobs/limits.ts';
import type { ByteWriter, Channel, StreamWriter } from '../../src/protocol/channel/channel.ts';
import type { SandboxMessage } from '../../src/protocol/messages/messages.ts';
import type { SessionReply, SessionRequest } from '../../src/protocol/messages/session-messages.ts';
import { withinDeadline } from '../../src/protocol/within-deadline.ts';
import { fittingLineEnds, withoutMark } from '../run/fitting-line-ends.ts';
import type { JobSurroundings } from '../run/job-surroundings.ts';
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

/** Variables that the code of a run heeds all the same: `TZ` is told to the interpreter, the others are read by programs as well. */
const HEEDED: ReadonlySet<string> = new Set(['TZ', 'HOME', 'NODE_ENV']);

const PIPE_GRACE_MS = 250;

/** A run of a session, as the host asks for it. */
export type Cell = SessionRequest & { type: 'cell' };

/** What a run needs of its session. */
export interface CellSurroundings {
  around: JobSurroundings;
  interpreter: Interpreter;
  epoch: number;
  /** What was lost since the run before. */
  losses: readonly Diagnostic[];
  /** Whether user code holds or held more memory than it may, in this epoch. See `MemoryWatch.wasOver`. */
  overMemory(mainLives: boolean): boolean;
  /** Ends all interpreters, and lets go of those that do not run. Says whether nothing of them is left. */
  lose(running?: Interpreter): Promise<boolean>;
}

/** Causes after which an interpreter is ended and not asked: what it does holds or makes too much. */
const FATAL: ReadonlySet<EndCause> = new Set<EndCause>(['output', 'memory', 'workspace', 'inodes']);

/**
 * Runs code in an interpreter that stays, and tells the host what came of it.
 *
 * @param cause why it is to stop, as its caller or one of its clocks has it; the first reason counts
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
  // Code that comes as text has no encoding to mark: Python would refuse the mark, which it takes at the start of a file.
  const { program, diagnostics } = fittingLineEnds(executor.language, withoutMark(cell.code));
  const started = performance.now();
  // What is to stop before it has begun never begins.
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
    ...doubts(dead, whole),
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

/** The output of a run, whose streams are opened with its first byte: most runs of a session write nothing. */
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

/** How long an interpreter may take to read code that it was sent, and how often it is interrupted until then. */
const BEGIN_MS = 1_000;
const AGAIN_MS = 100;

/**
 * Interrupts a run. A signal that comes before the interpreter has begun to run the code is heard by nobody, so that it comes again until
 * the code has surely begun; code that was running for long is interrupted once, and cleans up undisturbed. Returns how to end that.
 */
function interruptUntilHeard(interpreter: Interpreter, run: number, sentAt: number): () => void {
  interpreter.interrupt(run);
  const timer = setInterval(() => {
    if (performance.now() - sentAt > BEGIN_MS) clearInterval(timer);
    else interpreter.interrupt(run);
  }, AGAIN_MS);
  return () => clearInterval(timer);
}

/** Whether the code of a run ends its interpreter: then its report is the interpreter's last. */
function isLeaving({ leaving }: Record<string, unknown>): boolean {
  return leaving === true;
}

/** A shell that a trap of the code's own, or `exec`, took the last word from: its end is what the code has made it. */
function hasExited({ executor, end }: Interpreter): boolean {
  return executor.language.reads === 'strings' && end !== undefined && end.signal === null && end.code !== null;
}

/** An interpreter that ended without a word of its run. */
const UNSAID = { name: 'InterpreterEnded', message: 'The interpreter ended before the code had.', stack: '' };

function sendCell({ executor }: Interpreter, { run, language, env = {} }: Cell, code: string): void {
  if (executor.language.reads !== 'strings') return executor.link.send({ type: 'cell', run, language, code, env });
  const variables = Object.entries(env).map(([name, value]) => `${name}=${value}`);
  executor.link.sendStrings([`${run}`, code, ...counted(variables)]);
}

/** What an interpreter sends while it runs a cell. */
interface Answered {
  calls: CellCalls;
  shown: ShownResults;
  /** Its report, once it is there. */
  readonly fields: Record<string, unknown> | undefined;
  /** Settles with the report, or the end of the interpreter. */
  over: Promise<void>;
}

/** Listens to an interpreter that is about to run a cell; a later cell listens anew. */
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
  // Calls have parts from 1 on.
  link.onBytes = (part, chunk) => (part === 0 ? shown.takeBytes(chunk) : calls.takeBytes(part, chunk));
  link.onCall = (call) => calls.take(call);
  link.onMessage = (message) => {
    if (message.type === 'shown' && fields === undefined) shown.show(message.fields);
    if (message.type !== 'cell' || message.fields['run'] !== cell.run || fields !== undefined) return;
    fields = message.fields;
    // Its process is about to end, which says how.
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
    diagnostic('session.lost', `The interpreter ended${how}, and with it what the runs of the session had defined.`),
  ];
}

function doubts(dead: boolean, whole: boolean): Diagnostic[] {
  const left = 'Some processes of the session could not be ended in time; they end with the sandbox.';
  const open = 'More output may follow: a process that was not found or did not end in time still held its pipe.';
  return [
    ...(dead ? [] : [diagnostic('processes.left', left)]),
    ...(whole ? [] : [diagnostic('output.incomplete', open)]),
  ];
}

/** What is known of a run that is over. */
interface EndedCell {
  report: CellReport;
  isKept: boolean;
  /** Whether the code itself has ended its interpreter, and not something beside it. */
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

/** What the code of a run is called in its own messages. */
export function cellName(run: number): string {
  return `cell-${run}`;
}

/** Says which variables of one run come too late for the interpreter that runs it. */
function lateVariables(language: LanguageDefinition, env: Readonly<Record<string, string>>): Diagnostic[] {
  const late = Object.keys(startVariables(language, env)).filter((name) => !HEEDED.has(name));
  if (late.length === 0) return [];
  const names = late.join(', ').slice(0, 500);
  const message = `${language.title} reads ${names} when it starts, and the session's has started: only programs that the run starts heed it.`;
  return [diagnostic('variable.late', message)];
}
