/** Keeps the interpreter of a session: runs code with what earlier code defined, and says of each run what came of it. */
import { createRequire, registerHooks, stripTypeScriptTypes } from 'node:module';
import { once } from 'node:events';
import inspector from 'node:inspector';
import { pathToFileURL } from 'node:url';
import { inspect } from 'node:util';
import { Worker } from 'node:worker_threads';
import { asScript } from './as-script.ts';
import { createDisplay, type Display } from './display.ts';
import { exactJson } from './exact-json.ts';
import type { SupervisorLink } from './supervisor-link.ts';

/** What the supervisor says of the session. */
export interface SessionMessage {
  type: 'session';
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
}

/** What the executor gives to its session. */
export interface SessionPorts {
  link: SupervisorLink;
  /** Takes the JSON that the program set as its value, which is for one run only. */
  takeSet(): string | undefined;
  /** What the module `skillcell` of programs stands on. */
  bridge: object;
}

/** The interpreter of a session. */
export interface CellRunner {
  run(cell: CellMessage): void;
  /** Stops the run of this number, where it only waits. What is in a loop the thread stops. */
  interrupt(run: number): void;
}

/** A value of the interpreter, as the inspector hands it out. */
interface RemoteObject {
  type: string;
  value?: unknown;
  unserializableValue?: string;
  objectId?: string;
}

interface Evaluated {
  result: RemoteObject;
  exceptionDetails?: { exception?: RemoteObject; text: string };
}

/** How a run ended: with a value, an error, or stopped. */
type Ending = { value: unknown } | { error: unknown };

const GROUP = 'cell';
const TAKEN = Symbol.for('skillcell.taken');
/** Rounds of the event loop in which a rejection that nobody handles is reported. */
const LATE_ROUNDS = 2;

/** Begins a session. The interpreter's own names are those of its global object. */
export async function startSession(
  { cwd, valueBytes, resultBytes, interrupt }: SessionMessage,
  ports: SessionPorts,
): Promise<CellRunner> {
  const { link } = ports;
  const base = pathToFileURL(`${cwd}/session.mjs`);
  Object.defineProperty(globalThis, 'require', { value: createRequire(base), configurable: true, writable: true });
  // What a run imports it imports as a file of the workspace would.
  registerHooks({
    resolve: (specifier, context, next) =>
      next(specifier, context.parentURL === import.meta.url ? { ...context, parentURL: base.href } : context),
  });
  const evaluator = new inspector.Session();
  evaluator.connect();
  let display: Display = createDisplay(resultBytes);
  let running: { run: number; end(ending: Ending): void } | undefined;
  /** What failed beside the run, while it ran. */
  let stray: { error: unknown } | undefined;
  const heard = await followInterrupts(interrupt);
  // A run that leaves nothing to do ends no session, and neither does the answer to its last call.
  setInterval(() => undefined, 2 ** 31 - 1);

  const show = (value: unknown, mediaType?: string): void => display.show(value, mediaType);
  Object.assign(globalThis, { display: show });
  Object.assign(ports.bridge, { display: show });
  Object.defineProperty(globalThis, Symbol.for('skillcell.import'), {
    value: (specifier: string, options?: ImportCallOptions) => import(specifier, options),
  });
  Object.defineProperty(globalThis, Symbol.for('skillcell.meta'), {
    value: { url: base.href, dirname: cwd, filename: `${cwd}/session.mjs`, main: true },
  });
  let taken: unknown;
  Object.defineProperty(globalThis, TAKEN, { value: (value: unknown) => void (taken = value) });
  process.on('SIGINT', () => undefined);
  const strayed = (error: unknown): void => {
    if (running !== undefined) stray ??= { error };
    process.stderr.write(`Uncaught ${shown(error)}\n`);
  };
  process.on('uncaughtException', strayed);
  process.on('unhandledRejection', strayed);

  /** The value that a remote object stands for, which is one of this process. */
  const valueOf = (remote: RemoteObject): unknown => {
    if (remote.objectId === undefined) {
      const { type, unserializableValue } = remote;
      if (unserializableValue === undefined) return remote.value;
      return type === 'bigint' ? BigInt(unserializableValue.slice(0, -1)) : Number(unserializableValue);
    }
    taken = undefined;
    const functionDeclaration = `function () { globalThis[Symbol.for('skillcell.taken')](this); }`;
    evaluator.post('Runtime.callFunctionOn', { objectId: remote.objectId, functionDeclaration: functionDeclaration });
    const value = taken;
    taken = undefined;
    return value;
  };

  const evaluate = (expression: string, end: (ending: Ending) => void): void => {
    const parameters = { expression, replMode: true, awaitPromise: true, objectGroup: GROUP };
    evaluator.post('Runtime.evaluate', parameters, (fault, answer) => {
      if (fault !== null) return end({ error: interrupted() });
      const { result, exceptionDetails } = answer as Evaluated;
      if (exceptionDetails === undefined) return settle(valueOf(result), end);
      const { exception, text } = exceptionDetails;
      end({ error: exception === undefined ? new Error(text) : valueOf(exception) });
    });
  };

  const report = (run: number, ending: Ending, more: object): void => {
    evaluator.post('Runtime.releaseObjectGroup', { objectGroup: GROUP });
    const failed = 'error' in ending ? ending : stray;
    const said: Record<string, unknown> = { type: 'cell', run, ...more };
    if (failed !== undefined) {
      said['error'] = describe(failed.error);
      if ('error' in ending) process.stderr.write(`Uncaught ${shown(failed.error)}\n`);
    }
    const json = ports.takeSet() ?? ('value' in ending ? exactJson(ending.value) : undefined);
    if (json !== undefined && Buffer.byteLength(json) > valueBytes) said['valueBytes'] = Buffer.byteLength(json);
    else if (json !== undefined) said['json'] = json;
    if ('value' in ending && (json === undefined || display.isRich(ending.value))) display.showLast(ending.value);
    const { results, parts, dropped } = display.take();
    if (results.length > 0) said['results'] = results;
    if (dropped > 0) said['dropped'] = dropped;
    link.sendBytes(0, Buffer.concat(parts));
    running = undefined;
    stray = undefined;
    link.send(said);
  };
  const finish = async (run: number, ending: Ending): Promise<void> => {
    for (let round = 0; round < LATE_ROUNDS; round += 1) await new Promise((resolve) => setImmediate(resolve));
    report(run, ending, {});
  };
  process.on('exit', () => {
    if (running !== undefined) report(running.run, { value: undefined }, { leaving: true });
  });

  return {
    run({ run, language, code }) {
      display = createDisplay(resultBytes);
      const { promise, resolve } = Promise.withResolvers<Ending>();
      running = { run, end: resolve };
      void promise.then((ending) => finish(run, ending));
      try {
        const javascript = language === 'typescript' ? stripTypeScriptTypes(code) : code;
        evaluate(`${asScript(javascript)}\n//# sourceURL=cell-${run}`, resolve);
      } catch (error) {
        resolve({ error });
      }
    },
    interrupt(run) {
      heard();
      if (running?.run === run) running.end({ error: interrupted() });
    },
  };
}

/** Work that the last expression has begun is a part of the run. */
function settle(value: unknown, end: (ending: Ending) => void): void {
  if (!(value instanceof Promise)) return end({ value });
  value.then(
    (settled: unknown) => end({ value: settled }),
    (error: unknown) => end({ error }),
  );
}

/**
 * Starts the thread that stops a main thread which does not hear. Returns what says that it has heard: the thread gives it a moment.
 */
async function followInterrupts(pipe: string): Promise<() => void> {
  const count = new Int32Array(new SharedArrayBuffer(4));
  const worker = new Worker(new URL('interrupts.mjs', import.meta.url), {
    workerData: { pipe, count },
    execArgv: [],
    env: {},
  });
  await once(worker, 'message');
  worker.unref();
  return () => void Atomics.add(count, 0, 1);
}

function interrupted(): Error {
  const error = new Error('The run was interrupted.');
  error.name = 'Interrupted';
  error.stack = `${error.name}: ${error.message}`;
  return error;
}

function shown(error: unknown): string {
  return error instanceof Error ? ownStack(error) : inspect(error);
}

function describe(error: unknown): { name: string; message: string; stack: string } {
  if (!(error instanceof Error)) return { name: 'Error', message: shown(error), stack: shown(error) };
  return { name: error.name, message: error.message, stack: ownStack(error) };
}

/** The stack down to the last line of the session's own code: what stands below is ours. */
function ownStack({ name, message, stack = `${name}: ${message}` }: Error): string {
  const lines = stack.split('\n');
  const last = lines.findLastIndex((line) => /cell-\d+:\d+/.test(line));
  const first = lines.findIndex((line) => /^\s+at /.test(line));
  return (last >= 0 ? lines.slice(0, last + 1) : first >= 0 ? lines.slice(0, first) : lines).join('\n');
}
