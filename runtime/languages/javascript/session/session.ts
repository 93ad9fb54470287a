/** Keeps the interpreter of a session: runs code in the state that earlier code left, and reports the result of each run. */
import { once } from 'node:events';
import { stripTypeScriptTypes } from 'node:module';
import { Worker } from 'node:worker_threads';
import { answerStops } from './answer-stops.ts';
import { asScript, type Script } from './as-script.ts';
import { apply, bytesOfText, deleteProperty, get, hasOwn, keys, setImmediate } from '../captured.ts';
import { createCellEvaluator, type Ending } from './cell-evaluator.ts';
import { createCellReporter, type EndedRun, type ReportPorts } from './cell-reporter.ts';
import { describeError, interrupted } from '../describe-error.ts';
import { createDisplay } from './display.ts';
import { tellField } from './held-prototype.ts';
import { writeWhole } from '../reports.ts';
import { defineGlobals } from './session-globals.ts';
import { SHARED } from './stop-question.ts';
import { typeScriptError } from './syntax-error.ts';

/** Process events for a session. */
interface ProcessListener {
  /** An error that no code handled. */
  failed(error: unknown): void;
  /** The process is ending, and all its exit listeners have run. */
  exiting(): void;
}

/** The supervisor's settings of the session. */
export interface SessionMessage {
  cwd: string;
  valueBytes: number;
  resultBytes: number;
  /** The pipe that a thread reads, for requests that the main thread may not notice. */
  interrupt: string;
}

/** Code to run. */
export interface CellMessage {
  type: 'cell';
  run: number;
  language: string;
  code: string;
  /** Variables of this run only. */
  env: Record<string, string>;
}

/** The services that the executor gives to its session. */
export interface SessionPorts extends ReportPorts {
  /** The functions that the module `skillcell` of programs uses. */
  bridge: object;
}

/** The interpreter of a session. */
export interface CellRunner {
  run(cell: CellMessage): void;
  /** Stops the run of this number if it is only waiting; the thread stops loops. `count`: number of this interrupt in the session. */
  interrupt(run: number, count: number): void;
  /** Ends the process, and with it the session. */
  end(): void;
}

/** A running or ending run. */
interface Running extends EndedRun {
  /** Whether its code is running, has ended, or its report is being made. */
  step: 'runs' | 'ended' | 'reports';
  /** Removes the variables that are only for this run. */
  takeBack(): void;
}

const STDERR = 2;

/** Begins a session. The interpreter's own names are in its global object. */
export async function startSession(
  { cwd, valueBytes, resultBytes, interrupt }: SessionMessage,
  ports: SessionPorts,
): Promise<CellRunner> {
  const { exit, env: environment } = process;
  let running: Running | undefined;
  /** Whether no more code can be run. */
  let isBlocked = false;
  const heard = await followInterrupts(interrupt);
  // Keeps the process alive when a run leaves no work behind and after the answer to its last call.
  setInterval(() => undefined, 2 ** 31 - 1);

  const display = (value: unknown, mediaType?: string): void => running?.display.show(value, mediaType);
  Object.assign(ports.bridge, { display });
  defineGlobals({ cwd, display });
  const reporter = createCellReporter(valueBytes, ports, warn);
  const evaluator = createCellEvaluator((field) => {
    isBlocked ||= field.stays;
    warn(tellField(field));
  });
  const report = (ended: Running, ending: Ending, isLeaving: boolean): void => {
    ended.step = 'reports';
    try {
      evaluator.release();
      reporter.report(ended, ending, isLeaving);
    } catch (error) {
      reporter.reportError(ended.run, error);
    }
    ended.takeBack();
    running = undefined;
  };
  holdProcess({
    failed(is) {
      if (running !== undefined) running.stray ??= { is };
      warn(`Uncaught ${describeError(is).stack}`);
    },
    exiting() {
      if (running !== undefined) report(running, { failed: false, is: undefined }, true);
    },
  });
  /** Ends a run once, after its late failures. */
  const end = (ended: Running, ending: Ending): void => {
    if (ended.step !== 'runs') return;
    ended.step = 'ended';
    // Node reports an unhandled rejection before the next round of the event loop.
    setImmediate(() => {
      report(ended, ending, isBlocked);
      if (isBlocked) apply(exit, process, [1]);
    });
  };

  return {
    end: () => void apply(exit, process, [0]),
    run({ run, language, code, env }) {
      const shown = createDisplay(resultBytes, (forms, parts) => reporter.show(run, forms, parts));
      const started: Running = {
        run,
        display: shown,
        stray: undefined,
        step: 'runs',
        takeBack: lendVariables(environment, env),
      };
      running = started;
      const cell = `cell-${run}`;
      const finish = (ending: Ending): void => end(started, ending);
      try {
        evaluator.evaluate(scriptOf(code, language, cell), cell, finish);
      } catch (is) {
        finish({ failed: true, is });
      }
    },
    interrupt(run, count) {
      heard(count);
      if (running?.run !== run) return;
      const stopped = interrupted();
      if (running.step === 'runs') end(running, { failed: true, is: stopped });
      else if (running.step === 'reports') {
        // The code with which a value shows itself did not end and was stopped, or the stop arrived together with the report.
        const ended = running;
        ended.takeBack();
        running = undefined;
        reporter.reportStopped(ended, stopped);
      }
    },
  };
}

function scriptOf(code: string, language: string, cell: string): Script {
  if (language !== 'typescript') return asScript(code, cell);
  let javascript: string;
  try {
    javascript = stripTypeScriptTypes(code);
  } catch (error) {
    throw typeScriptError(error, cell);
  }
  return asScript(javascript, cell);
}

/** Writes a line to stderr, even if user code has replaced the stream. */
function warn(line: string): void {
  writeWhole(STDERR, bytesOfText(`${line}\n`));
}

/**
 * Starts the thread that stops a main thread which does not react. Returns a function that stores the number of noticed interrupts: the thread gives
 * the main thread a moment for each.
 */
async function followInterrupts(pipe: string): Promise<(count: number) => void> {
  const shared = new Int32Array(new SharedArrayBuffer(SHARED.size * Int32Array.BYTES_PER_ELEMENT));
  const { store } = Atomics;
  answerStops(shared);
  const worker = new Worker(new URL('interrupts.mjs', import.meta.url), {
    workerData: { pipe, shared },
    execArgv: [],
    env: {},
  });
  await once(worker, 'message');
  worker.unref();
  return (count) => void store(shared, SHARED.heard, count);
}

/**
 * Listens to the process in a way that user code cannot remove: before all listeners, and not as one of them. Errors count as handled, so none of
 * them ends the interpreter.
 */
function holdProcess({ failed, exiting }: ProcessListener): void {
  const { emit } = process;
  const emitAndHear = (name: string, ...values: unknown[]): boolean => {
    const isFailure = name === 'uncaughtException' || name === 'unhandledRejection';
    if (isFailure) failed(values[0]);
    let heard = isFailure;
    try {
      heard = (apply(emit, process, [name, ...values]) as boolean) || heard;
    } catch (error) {
      // Without this, Node would end the process because an error listener itself failed.
      if (!isFailure) throw error;
      failed(error);
    }
    if (name === 'exit') exiting();
    return heard;
  };
  process.emit = emitAndHear as typeof process.emit;
  // A program that a run starts may interrupt its process group, to which the interpreter belongs.
  process.on('SIGINT', () => undefined);
}

/** Sets environment variables for one run. Returns a function that restores them, once. */
function lendVariables(environment: NodeJS.ProcessEnv, variables: Readonly<Record<string, string>>): () => void {
  const names = keys(variables);
  const before: Record<string, string> = {};
  for (const name of names) {
    if (hasOwn(environment, name)) before[name] = get(environment, name) as string;
    environment[name] = variables[name];
  }
  let isOver = false;
  return () => {
    if (isOver) return;
    isOver = true;
    for (const name of names) {
      if (hasOwn(before, name)) environment[name] = before[name];
      else deleteProperty(environment, name);
    }
  };
}
