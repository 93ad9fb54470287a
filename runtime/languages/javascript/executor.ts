/**
 * Runs one user program in JavaScript or TypeScript. Starts ahead of the job, loads a small module through the loader
 * that the program will use, which its argument names, and waits.
 */
import { readFileSync } from 'node:fs';
import Module, { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { LIMIT_CEILINGS } from '../../../src/contracts/limits.ts';
import type { ToldValue } from './cell-reporter.ts';
import type { ErrorTexts } from './describe-error.ts';
import { createProgramCalls, ToolCallError } from './program-calls.ts';
import type { CellMessage, CellRunner, SessionMessage, startSession } from './session.ts';
import { shortTexts } from './short-texts.ts';
import { connectSupervisor } from './supervisor-link.ts';

interface RunMessage {
  type: 'run';
  path: string;
  args: string[];
  env: Record<string, string>;
  cwd: string;
  skills: string;
  /** Whether the program is a script of a skill, which stays where it lies. */
  inPlace?: boolean;
}

interface RehearseMessage {
  type: 'rehearse';
  skillCode: boolean;
  env: Record<string, string>;
}

const sample = pathToFileURL(process.argv[2] ?? '').href;
const { stringify } = JSON;
let failure: unknown;
let value: { json: ToldValue } | undefined;
let skillsFolder = '';
let ended = false;

const link = connectSupervisor({
  message: (message) => take(message as ExecutorRequest),
  answer: (bytes) => calls.settle(bytes),
  bytes: (part, bytes) => calls.takeBytes(part, bytes),
});
const calls = createProgramCalls(link);

/** What may be asked of an executor: one program, or a session of runs. */
type ExecutorRequest =
  | RunMessage
  | RehearseMessage
  | (SessionMessage & Pick<RunMessage, 'env' | 'skills'>)
  | CellMessage
  | { type: 'interrupt'; run: number; count: number }
  | { type: 'end' };

/** There before a run is asked for: the supervisor waits until it is told so. */
let session: CellRunner | undefined;

function take(message: ExecutorRequest): void {
  if (message.type === 'run') run(message);
  else if (message.type === 'rehearse') void rehearse(message);
  else if (message.type === 'session') void openSession(message);
  else if (message.type === 'cell') session?.run(message);
  else if (message.type === 'end') session?.end();
  else session?.interrupt(message.run, message.count);
}

async function openSession(message: ExecutorRequest & { type: 'session' }): Promise<void> {
  skillsFolder = message.skills;
  setEnvironment(message.env);
  process.chdir(message.cwd);
  // Only sessions need it, and it needs time to load.
  const { startSession: start } = (await import(new URL('session.mjs', import.meta.url).href)) as {
    startSession: typeof startSession;
  };
  const takeSet = (): ToldValue | undefined => {
    const set = value?.json;
    value = undefined;
    return set;
  };
  session = await start(message, { link, takeSet, bridge });
  link.send({ type: 'waiting' });
}

/** What the `skillcell` module of user programs stands on. */
const bridge = {
  ToolCallError,
  /** Where the modules for programs lie, also where none of them is found by its name. */
  modules: new URL('guest/', import.meta.url).href,
  call: calls.call,
  setValue(given: unknown): void {
    const json = stringify(given);
    if (json === undefined) throw new TypeError('Cannot set the value: it has no JSON form.');
    const bytes = Buffer.byteLength(json);
    value = { json: bytes > LIMIT_CEILINGS.valueBytes ? bytes : json };
  },
  readSkillFile(id: string, path: string): Buffer {
    const parts = [...id.split('.', 2), ...path.split('/')];
    if (parts.some((part) => part === '' || part === '.' || part === '..')) {
      throw new Error(`Cannot read a skill file: no such file, got ${id} ${path}.`);
    }
    return readFileSync(`${skillsFolder}/${parts.join('/')}`);
  },
};
Object.defineProperty(globalThis, Symbol.for('skillcell.bridge'), { value: bridge });

/** Modules that rehearsals load: each stays for good, and the first few are what makes the difference. */
const REHEARSED_MODULES = 8;
let rehearsals = 0;

/** Does what a run does up to the program, with a module of ours in its place. */
async function rehearse(message: RehearseMessage): Promise<void> {
  rehearsals = Math.min(rehearsals + 1, REHEARSED_MODULES);
  setEnvironment(message.env);
  process.chdir(process.cwd());
  createRequire(import.meta.url);
  await import(`${sample}?${rehearsals}`);
  if (message.skillCode) await import(`${bridge.modules}skill-code/rehearse.mjs`);
  link.send({ type: 'rehearsed' });
}

function setEnvironment(env: Record<string, string>): void {
  for (const name of Object.keys(process.env)) delete process.env[name];
  Object.assign(process.env, env);
}

function run(message: RunMessage): void {
  skillsFolder = message.skills;
  link.stayAlive(false);
  setEnvironment(message.env);
  process.argv = [process.argv[0] ?? 'node', message.path, ...message.args];
  process.chdir(message.cwd);
  // Model-written programs mix both module systems; a module file gets `require` as well.
  Object.defineProperty(globalThis, 'require', {
    value: createRequire(pathToFileURL(message.path)),
    configurable: true,
    writable: true,
  });
  process.on('uncaughtExceptionMonitor', (error: unknown) => {
    failure = error;
  });
  finishAtExit();
  if (message.inPlace === true) {
    runAsMain(message.path);
    return;
  }
  if (/\.c[jt]s$/.test(message.path)) {
    takeValue(exportsOfMain(message.path));
    return;
  }
  // A rejection is left unhandled on purpose: Node prints it as it does for any program, and ends with code 1.
  void import(pathToFileURL(message.path).href).then((namespace: ModuleNamespace) => takeValue(namespace.default));
}

/** Runs a file as `node FILE` does, which tells the kind of module by its name, its package and its text. */
function runAsMain(path: string): void {
  const { runMain } = Module as unknown as { runMain(path: string): void };
  runMain(path);
  // The module is under way by then, so that this is no other one. How it fails is told already.
  setImmediate(() => void import(pathToFileURL(path).href).then(takeExported, () => undefined));
}

/** Loads a CommonJS program as Node loads its main one: `require.main === module` holds. What was not exported is no value. */
function exportsOfMain(path: string): unknown {
  const { _load: load } = Module as unknown as { _load(path: string, parent: null, isMain: boolean): unknown };
  return unlessUntouched(load(path, null, true));
}

function unlessUntouched(given: unknown): unknown {
  const untouched = typeof given === 'object' && given !== null && Reflect.ownKeys(given).length === 0;
  return untouched ? undefined : given;
}

interface ModuleNamespace {
  default?: unknown;
  /** Of a CommonJS module only. */
  'module.exports'?: unknown;
}

function takeExported(namespace: ModuleNamespace): void {
  const isCommon = 'module.exports' in namespace;
  takeValue(isCommon ? unlessUntouched(namespace['module.exports']) : namespace.default);
}

function takeValue(given: unknown): void {
  if (value === undefined && given !== undefined && typeof given !== 'function') bridge.setValue(given);
}

/** After all that listens for the end, also what the program adds later: it may still write, and set the code. */
function finishAtExit(): void {
  const emit = process.emit.bind(process) as (name: string, ...values: unknown[]) => boolean;
  const emitAndFinish = (name: string, ...values: unknown[]): boolean => {
    const heard = emit(name, ...values);
    if (name === 'exit') finish(Number(process.exitCode ?? values[0]));
    return heard;
  };
  process.emit = emitAndFinish as typeof process.emit;
}

function finish(code: number): void {
  if (ended) return;
  ended = true;
  // Node tells of an uncaught error after this event; the process's own end then says that all of it is written.
  if (failure === undefined) link.send({ type: 'exit', code, json: value?.json });
  else link.send({ type: 'error', error: shortTexts(describe(failure)), json: value?.json });
}

function describe(error: unknown): ErrorTexts {
  if (!(error instanceof Error)) return { name: 'Error', message: String(error), stack: String(error) };
  return { name: error.name, message: error.message, stack: error.stack ?? error.message };
}

// The loader and the output streams set themselves up at their first use; that cost is paid here, ahead of the job.
for (const stream of [process.stdout, process.stderr]) stream.write('');
await import(sample);
link.send({ type: 'waiting' });
