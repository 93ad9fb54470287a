/**
 * Runs one user program in JavaScript or TypeScript. Starts ahead of the job, loads a small module through the loader
 * that the program will use, which its argument names, and waits. Descriptor 3 brings messages, 4 takes them; both end
 * with this process.
 */
import { readFileSync } from 'node:fs';
import Module, { createRequire } from 'node:module';
import { Socket } from 'node:net';
import { pathToFileURL } from 'node:url';
import {
  attachBytes,
  detachBytes,
  ValueFault,
  type BytesPlace,
  type DetachedValue,
} from '../../../src/protocol/value-bytes.ts';

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

interface ReplyMessage {
  type: 'reply';
  id: number;
  ok: boolean;
  value?: unknown;
  /** Bytes that follow, and where they stand in the value. */
  bytes?: (BytesPlace & { part: number })[];
  error?: { code: string; message: string };
}

/** A call that gave no value. */
class ToolCallError extends Error {
  override readonly name = 'ToolCallError';
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

const { writeWhole } = createRequire(import.meta.url)('../../launch/whole-output.cjs') as {
  writeWhole(fd: number, bytes: Uint8Array): void;
};

const sample = pathToFileURL(process.argv[2] ?? '').href;
const incoming = new Socket({ fd: 3, readable: true, writable: false });
const pending = new Map<number, { resolve: (value: unknown) => void; reject: (error: Error) => void }>();
/** Bytes of answers that are not whole yet. */
const arriving = new Map<number, { bytes: Uint8Array; filled: number; whole(): void }>();
let failure: unknown;
let value: { json: string } | undefined;
let skillsFolder = '';
let lastCall = 0;
let lastPart = 0;
let ended = false;

/** Calls of this tick, which leave together and so wake the entry once, and their bytes. */
let gathered: Buffer[] = [];
let gatheredBytes = 0;
/** Beyond these a program that makes calls without end waits for the entry to read them. */
const GATHERED_BYTES = 64 * 1024;

function sendSoon(message: object): void {
  if (gathered.length === 0) process.nextTick(sendGathered);
  gather(message);
  if (gatheredBytes > GATHERED_BYTES) sendGathered();
}

function sendGathered(): void {
  const frames = Buffer.concat(gathered);
  gathered = [];
  gatheredBytes = 0;
  writeWhole(4, frames);
}

/** Writes a whole message, behind what was gathered, before it returns: the process may be about to end. */
function send(message: object): void {
  gather(message);
  sendGathered();
}

function gather(message: object): void {
  const text = JSON.stringify(message);
  const size = Buffer.byteLength(text);
  const frame = Buffer.allocUnsafe(4 + size);
  frame.writeUInt32LE(size, 0);
  frame.write(text, 4);
  gathered.push(frame);
  gatheredBytes += frame.length;
}

/** Bytes of a part that go in one frame. */
const FRAME_BYTES = 256 * 1024;
/** Marks a frame of bytes, in the highest byte of its length. */
const BYTES_KIND = 1;

function sendBytes(part: number, bytes: Uint8Array): void {
  for (let offset = 0; offset < bytes.length; offset += FRAME_BYTES) {
    const piece = bytes.subarray(offset, offset + FRAME_BYTES);
    const header = Buffer.allocUnsafe(8);
    header.writeUIntLE(4 + piece.length, 0, 3);
    header[3] = BYTES_KIND;
    header.writeUInt32LE(part, 4);
    writeWhole(4, Buffer.concat([header, piece]));
  }
}

let held: Buffer = Buffer.alloc(0);
incoming.on('data', (chunk: Buffer) => {
  held = held.length === 0 ? chunk : Buffer.concat([held, chunk]);
  while (held.length >= 4) {
    const length = held.readUIntLE(0, 3);
    if (held.length < 4 + length) return;
    const [kind, body] = [held[3], held.subarray(4, 4 + length)];
    held = held.subarray(4 + length);
    if (kind === BYTES_KIND) {
      takeBytes(body.readUInt32LE(0), body.subarray(4));
      continue;
    }
    const message = JSON.parse(body.toString('utf8')) as RunMessage | RehearseMessage | ReplyMessage;
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
  const settleNow = (act: () => void): void => {
    pending.delete(message.id);
    if (pending.size === 0) incoming.unref();
    act();
  };
  const { error, bytes: places = [] } = message;
  if (!message.ok)
    return settleNow(() =>
      call.reject(new ToolCallError(error?.code ?? 'tool.failed', error?.message ?? 'the call failed')),
    );
  const parts = places.map(({ bytes }) => new Uint8Array(bytes));
  const whole = (): void => settleNow(() => call.resolve(attachBytes(message.value, places, parts)));
  let missing = places.length + 1;
  const another = (): void => {
    missing -= 1;
    if (missing === 0) whole();
  };
  places.forEach(({ part }, index) => {
    const bytes = parts[index] as Uint8Array;
    if (bytes.length === 0) another();
    else arriving.set(part, { bytes, filled: 0, whole: another });
  });
  another();
}

function takeBytes(number: number, chunk: Buffer): void {
  const part = arriving.get(number);
  if (part === undefined) return;
  part.bytes.set(chunk, part.filled);
  part.filled += chunk.length;
  if (part.filled < part.bytes.length) return;
  arriving.delete(number);
  part.whole();
}

/** What the broker takes; said here, so that nothing of it is sent for nothing. */
const ARGUMENT_CAPS = { jsonBytes: 256 * 1024, totalBytes: 8 * 1024 * 1024 };

function argumentsOf(given: unknown): DetachedValue {
  try {
    return detachBytes(given, ARGUMENT_CAPS);
  } catch (error) {
    // What a getter of the program throws is the program's own.
    if (!(error instanceof ValueFault)) throw error;
    const code = error.isTooLarge ? 'tool.too-large' : 'tool.invalid-arguments';
    throw new ToolCallError(code, `Cannot make the call: the arguments are not acceptable, got ${error.message}.`);
  }
}

/** What the `skillcell` module of user programs stands on. */
const bridge = {
  ToolCallError,
  /** Where the modules for programs lie, also where none of them is found by its name. */
  modules: new URL('guest/', import.meta.url).href,
  async call(target: 'tool' | 'model', name: string, given: unknown): Promise<unknown> {
    const { json: args, places, parts } = argumentsOf(given);
    const bytes = places.map((place) => ({ ...place, part: (lastPart += 1) }));
    lastCall += 1;
    const id = lastCall;
    incoming.ref();
    return await new Promise((resolve, reject) => {
      pending.set(id, { resolve, reject });
      if (bytes.length === 0) return sendSoon({ type: 'call', id, target, name, args });
      send({ type: 'call', id, target, name, args, bytes });
      bytes.forEach(({ part }, index) => sendBytes(part, parts[index] ?? new Uint8Array()));
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
  if (message.skillCode) await import(`${bridge.modules}skill-code/rehearse.mjs`);
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
