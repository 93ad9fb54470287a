/**
 * Runs one user program in JavaScript or TypeScript. Starts ahead of the job, loads a small module through the loader
 * that the program will use, which its argument names, and waits. Descriptor 3 brings messages, 4 takes them; both end
 * with this process.
 */
import { readFileSync } from 'node:fs';
import Module, { createRequire } from 'node:module';
import { Socket } from 'node:net';
import { pathToFileURL } from 'node:url';

interface RunMessage {
  type: 'run';
  path: string;
  args: string[];
  env: Record<string, string>;
  cwd: string;
  skills: string;
}

interface RehearseMessage {
  type: 'rehearse';
  env: Record<string, string>;
}

interface ReplyMessage {
  type: 'reply';
  id: number;
  ok: boolean;
  value?: unknown;
  error?: { name: string; message: string };
}

const { writeWhole } = createRequire(import.meta.url)('../../launch/whole-output.cjs') as {
  writeWhole(fd: number, bytes: Uint8Array): void;
};

const sample = pathToFileURL(process.argv[2] ?? '').href;
const incoming = new Socket({ fd: 3, readable: true, writable: false });
const pending = new Map<number, { resolve: (value: unknown) => void; reject: (error: Error) => void }>();
let failure: unknown;
let value: { json: string } | undefined;
let skillsFolder = '';
let lastCall = 0;
let ended = false;

/** Writes a whole message before it returns: the process may be about to end. */
function send(message: object): void {
  const body = Buffer.from(JSON.stringify(message));
  const bytes = Buffer.allocUnsafe(4 + body.length);
  bytes.writeUInt32LE(body.length, 0);
  body.copy(bytes, 4);
  writeWhole(4, bytes);
}

let held: Buffer = Buffer.alloc(0);
incoming.on('data', (chunk: Buffer) => {
  held = held.length === 0 ? chunk : Buffer.concat([held, chunk]);
  while (held.length >= 4) {
    const length = held.readUInt32LE(0);
    if (held.length < 4 + length) return;
    const message = JSON.parse(held.toString('utf8', 4, 4 + length)) as RunMessage | RehearseMessage | ReplyMessage;
    held = held.subarray(4 + length);
    if (message.type === 'run') run(message);
    else if (message.type === 'rehearse') void rehearse(message);
    else settle(message);
  }
});
// Without the entry nobody waits for this program.
incoming.on('close', () => process.exit(70));

function settle(message: ReplyMessage): void {
  const call = pending.get(message.id);
  if (call === undefined) return;
  pending.delete(message.id);
  if (pending.size === 0) incoming.unref();
  if (message.ok) {
    call.resolve(message.value);
    return;
  }
  const error = new Error(message.error?.message ?? 'the call failed');
  error.name = message.error?.name ?? 'CallError';
  call.reject(error);
}

/** What the `skillcell` module of user programs stands on. */
const bridge = {
  call(target: 'tool' | 'model', name: string, args: unknown): Promise<unknown> {
    lastCall += 1;
    const id = lastCall;
    incoming.ref();
    return new Promise((resolve, reject) => {
      pending.set(id, { resolve, reject });
      send({ type: 'call', id, target, name, args });
    });
  },
  setValue(given: unknown): void {
    const json = JSON.stringify(given);
    if (json === undefined) throw new TypeError('Cannot set the value: it has no JSON form.');
    value = { json };
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
  send({ type: 'rehearsed' });
}

function setEnvironment(env: Record<string, string>): void {
  for (const name of Object.keys(process.env)) delete process.env[name];
  Object.assign(process.env, env);
}

function run(message: RunMessage): void {
  skillsFolder = message.skills;
  incoming.unref();
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
  if (/\.c[jt]s$/.test(message.path)) {
    takeValue(exportsOfMain(message.path));
    return;
  }
  // A rejection is left unhandled on purpose: Node prints it as it does for any program, and ends with code 1.
  void import(pathToFileURL(message.path).href).then((namespace: { default?: unknown }) =>
    takeValue(namespace.default),
  );
}

/** Loads a CommonJS program as Node loads its main one: `require.main === module` holds. What was not exported is no value. */
function exportsOfMain(path: string): unknown {
  const { _load: load } = Module as unknown as { _load(path: string, parent: null, isMain: boolean): unknown };
  const given = load(path, null, true);
  const untouched = typeof given === 'object' && given !== null && Reflect.ownKeys(given).length === 0;
  return untouched ? undefined : given;
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
  if (failure === undefined) send({ type: 'exit', code, json: value?.json });
  else send({ type: 'error', error: describe(failure), json: value?.json });
}

function describe(error: unknown): { name: string; message: string; stack: string } | undefined {
  if (error === undefined) return undefined;
  if (!(error instanceof Error)) return { name: 'Error', message: String(error), stack: String(error) };
  return { name: error.name, message: error.message, stack: error.stack ?? error.message };
}

// The loader and the output streams set themselves up at their first use; that cost is paid here, ahead of the job.
for (const stream of [process.stdout, process.stderr]) stream.write('');
await import(sample);
send({ type: 'waiting' });
