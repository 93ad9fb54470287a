import { diagnostic, type Diagnostic } from '../../src/contracts/errors/diagnostic.ts';
import type { JobLimits } from '../../src/contracts/jobs/limits.ts';
import { type LanguageDefinition, startVariables } from '../../src/contracts/jobs/language.ts';
import type { ByteWriter, Channel, StreamWriter } from '../../src/protocol/channel/channel.ts';
import type { SandboxMessage } from '../../src/protocol/messages/messages.ts';
import { withinDeadline } from '../../src/protocol/within-deadline.ts';
import type { EndCause, FirstCause } from '../run/end-cause.ts';
import { fittingLineEnds, withoutMark } from '../run/fitting-line-ends.ts';
import type { JobSurroundings } from '../run/job-surroundings.ts';
import { countedVariables } from '../run/program/executor-link.ts';
import { readProgramError, readReportedValue, type ReadValue } from '../run/program/program-report.ts';
import { runCode } from '../run/run-code.ts';
import type { RunSubject } from '../run/run-subject.ts';
import { answerCellCalls, type CellCalls } from './cell-calls.ts';
import { readCellReport } from './cell-report.ts';
import type { Interpreter } from './interpreter.ts';
import { passResults, type ShownResults } from './shown-results.ts';
import { type Cell, tellCell } from './tell-cell.ts';

/** Variables that take effect although the interpreter has started: it is told of `TZ`, and other programs read the rest as well. */
const HEEDED: ReadonlySet<string> = new Set(['TZ', 'HOME', 'NODE_ENV']);

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

/**
 * Runs code in an open interpreter, and sends the result to the host.
 *
 * @param first the cause of the end; the session names it if the host stops the run
 */
export async function runCell(cell: Cell, session: CellSurroundings, first: FirstCause): Promise<void> {
  const { around, interpreter, epoch, losses } = session;
  const { run, env = {} } = cell;
  const { language } = interpreter.executor;
  const limits: JobLimits = { ...around.globals.JOB.limits, runTimeoutMs: cell.timeoutMs };
  // Code that arrives as text needs no byte order mark. Python accepts the mark at the start of a file, but refuses it here.
  const { program, diagnostics } = fittingLineEnds(language, withoutMark(cell.code));
  const shown = passResults(around.channel, interpreter.executor.link, run);
  const subject = cellSubject({ ...cell, code: program }, session, limits, shown);
  const { outcome, isKept } = await runCode(subject, limits, around, first);
  const found = [...losses, ...diagnostics, ...lateVariables(language, env), ...lossOf(isKept, interpreter)];
  await shown.handedOn;
  tellCell(
    around.channel,
    { run, epoch, state: isKept ? 'kept' : 'lost' },
    { ...outcome, diagnostics: [...found, ...outcome.diagnostics] },
  );
}

/** Causes after which an interpreter may stay. After the others it holds or produces too much. */
const STOPPABLE: ReadonlySet<EndCause> = new Set<EndCause>(['run-deadline', 'timeout', 'canceled', 'calls']);

/** A cell as the code of a run. Its interpreter stays if the cell has stopped. */
function cellSubject(
  { run, language, code, env = {} }: Cell,
  { around, interpreter, overMemory, lose }: CellSurroundings,
  limits: JobLimits,
  shown: ShownResults,
): RunSubject {
  const { link, language: definition } = interpreter.executor;
  const isShell = definition.reads === 'strings';
  const over = Promise.withResolvers<void>();
  let calls: CellCalls | undefined;
  let sentAt: number | undefined;
  /** The report on the run, once it has arrived. */
  let fields: Record<string, unknown> | undefined;
  const isLeaving = (): boolean => fields?.['leaving'] === true;

  return {
    lasts: true,
    output: interpreter,
    writers: cellOutput(around.channel, run),
    stoppable: STOPPABLE,
    // The next cell replaces the listeners.
    follow(because) {
      const end = (): void => {
        over.resolve();
        because('itself');
      };
      const answers = (calls = answerCellCalls(around.calls, link, {
        refusals: limits.calls,
        onExhausted: () => because('calls'),
        onFault: end,
      }));
      // Parts of calls are numbered from 1.
      link.onBytes = (part, chunk) => (part === 0 ? shown.takeBytes(chunk) : answers.takeBytes(part, chunk));
      link.onCall = (call) => answers.take(call);
      link.onMessage = (message) => {
        if (message.type === 'shown' && fields === undefined) shown.show(message.fields);
        if (message.type !== 'cell' || message.fields['run'] !== run || fields !== undefined) return;
        fields = message.fields;
        // The process of an interpreter that leaves is about to end, and its status counts.
        if (!isLeaving()) end();
      };
      link.onFault = end;
      interpreter.followEnd(end);
    },
    begin() {
      sentAt = performance.now();
      if (isShell) link.sendStrings([`${run}`, code, ...countedVariables(env)]);
      else link.send({ type: 'cell', run, language, code, env });
    },
    async askToStop(graceMs) {
      if (sentAt === undefined) return;
      calls?.interrupt();
      const endInterrupts = interruptUntilHeard(interpreter, run, sentAt);
      await withinDeadline(over.promise, { limitMs: graceMs, overdue: () => undefined });
      endInterrupts();
    },
    overMemory: () => overMemory(interpreter.end === undefined),
    get isIdle() {
      return fields === undefined ? sentAt === undefined && interpreter.end === undefined : !isLeaving();
    },
    unfollow: () => calls?.close(),
    kill: () => lose(interpreter),
    async report({ cause, isKept }) {
      const { code: status, json, ...report } = readCellReport(fields ?? {}, shown);
      const end = isKept ? undefined : interpreter.end;
      const error = readProgramError(report.error, cellName(run));
      /** Whether the code itself, and no other cause, has ended its interpreter. */
      const hasLeft = fields === undefined ? isShell && end?.signal === null && end.code !== null : isLeaving();
      const unsaid = isKept || hasLeft || cause !== 'itself' ? undefined : UNSAID;
      const value: ReadValue = json === undefined ? { diagnostics: [] } : readReportedValue(json, limits.valueBytes);
      return {
        exitCode: end === undefined ? (status ?? null) : end.code,
        signal: end?.signal ?? null,
        succeeded: isKept ? error === undefined && (status ?? 0) === 0 : hasLeft && end?.code === 0,
        error: error ?? unsaid,
        missing: [],
        value: { ...value, diagnostics: [...report.diagnostics, ...value.diagnostics] },
      };
    },
    release: () => interpreter.close(),
  };
}

/** The error if an interpreter ended without a report on its run. */
const UNSAID = { name: 'InterpreterEnded', message: 'The interpreter ended before the code did.', stack: '' };

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

function lossOf(isKept: boolean, { end }: Interpreter): Diagnostic[] {
  if (isKept) return [];
  const how =
    end === undefined ? '' : end.signal === null ? ` with code ${end.code ?? 'unknown'}` : ` by ${end.signal}`;
  return [
    diagnostic('session.lost', `The interpreter ended${how}, and the definitions of the session's runs are lost.`),
  ];
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
