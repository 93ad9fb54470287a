/** Keeps the interpreter of a session: runs code with what earlier code defined, and says of each run what came of it. */
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

/** What a session hears of its process. */
interface ProcessListener {
  /** Something failed that nobody waited for. */
  failed(error: unknown): void;
  /** The process ends, and all that listens for it has been called. */
  exiting(): void;
}

/** What the supervisor says of the session. */
export interface SessionMessage {
  cwd: string;
  valueBytes: number;
  resultBytes: number;
  /** The pipe that a thread reads, to hear what the main thread may not. */
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

/** What the executor gives to its session. */
export interface SessionPorts extends ReportPorts {
  /** What the module `skillcell` of programs stands on. */
  bridge: object;
}

/** The interpreter of a session. */
export interface CellRunner {
  run(cell: CellMessage): void;
  /** Stops the run of this number, where it only waits. What is in a loop the thread stops. `count`: which interrupt of the session this is. */
  interrupt(run: number, count: number): void;
  /** Ends the process, and with it the session. */
  end(): void;
}

/** A run under way. */
interface Running extends EndedRun {
  /** Whether its code has ended, and then whether its report is being made. */
  step: 'runs' | 'ended' | 'reports';
  /** Takes back the variables that it alone has. */
  takeBack(): void;
}

const STDERR = 2;

/** Begins a session. The interpreter's own names are those of its global object. */
export async function startSession(
  { cwd, valueBytes, resultBytes, interrupt }: SessionMessage,
  ports: SessionPorts,
): Promise<CellRunner> {
  const { exit, env: environment } = process;
  let running: Running | undefined;
  /** Whether no more code can be run. */
  let isBlocked = false;
  const heard = await followInterrupts(interrupt);
  // A run that leaves nothing to do ends no session, and neither does the answer to its last call.
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
  /** Ends a run once, after what fails late has failed. */
  const end = (ended: Running, ending: Ending): void => {
    if (ended.step !== 'runs') return;
    ended.step = 'ended';
    // A rejection that nobody handles is told of before the next round of the event loop.
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
        // How a value shows itself did not end, and was stopped, or the stop came as late as the report itself.
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

/** Writes a line to stderr, whatever code of users has made of the stream. */
function warn(line: string): void {
  writeWhole(STDERR, bytesOfText(`${line}\n`));
}

/**
 * Starts the thread that stops a main thread which does not hear. Returns what says how many interrupts it has heard: the thread gives it a moment
 * for each.
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
 * Listens to the process where no code of users takes the listener away: in front of them all, and not as one of them. What is heard
 * here of errors is handled, so that none of them ends the interpreter.
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
      // Node would end the process: a listener for errors that fails itself is none.
      if (!isFailure) throw error;
      failed(error);
    }
    if (name === 'exit') exiting();
    return heard;
  };
  process.emit = emitAndHear as typeof process.emit;
  // An interrupt of the whole session is for programs of other languages.
  process.on('SIGINT', () => undefined);
}

/** Sets environment variables for one run. Returns what takes them back, which counts once. */
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
