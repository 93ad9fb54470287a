/**
 * Node preloads this file before it runs a program. The file holds Node in its own start-up until the program arrives, and then lets Node run the
 * program as its main module. So the interpreter itself runs the program from its first line to its end. Before the program begins, the file removes
 * its module, frees the low descriptors of the link and replaces the variables of its start.
 */
import { Buffer } from 'node:buffer';
import { closeSync, openSync, readFileSync, readSync, writeFileSync } from 'node:fs';
import Module, { createRequire, findPackageJSON } from 'node:module';
import { extname } from 'node:path';
import process from 'node:process';
import { pathToFileURL } from 'node:url';
import { isMainThread } from 'node:worker_threads';
import type * as Bridges from './bridge.ts';
import { BRIDGE, type HeldProgram, type ToldProgramValue } from './bridge-registry.ts';
import { describeError } from './describe-error.ts';
import { jsonOfExport } from './exported-value.ts';
import { createReports } from './reports.ts';
import { shortTexts } from './short-texts.ts';

interface RunMessage {
  type: 'run';
  path: string;
  args: string[];
  env: Record<string, string>;
  cwd: string;
  skills: string;
  /** Whether the job has a network. */
  network?: boolean;
  /** Settings of the session, for the program that serves it. */
  session?: unknown;
}

type HoldMessage = RunMessage | { type: 'rehearse'; skillCode: boolean; network: boolean };

/** Internals of Node's module loader that its types leave out; loaders from npm use them as well. */
const { _cache: cache } = Module as unknown as { _cache: Record<string, { exports: unknown } | undefined> };
const { parse } = JSON;
const { ownKeys } = Reflect;
/** The link's descriptors as the supervisor hands them over. */
const [GIVEN_INCOMING, GIVEN_OUTGOING] = [3, 4];
/**
 * The link moves to this number and the next one, since programs count on low numbers. Above 63 the kernel makes a larger table, and for a process with
 * threads it waits for all processors before it does, some 10 ms each time.
 */
const FIRST_DESCRIPTOR = 62;
const HEADER_BYTES = 4;
const STANDARD_STREAMS = ['stdout', 'stderr'] as const;

/** A declaration of `then` in the program: an `import()` of the module would call an export of that name. */
const OWN_THEN = /\b(?:const|let|var|function|class|as) then\b|[{,] ?then ?[,}]/;

/** A program that watches the loading of modules: it would see a second load of its own module. */
const WATCHES_LOADING = /\b(?:registerHooks|register|_load|_resolveFilename|_extensions)\b/;
/** A declaration of `require` in the program. */
const OWN_REQUIRE = /\b(?:const|let|var|function|import|as)\s+require\b/;

forgetThisModule();
// Workers load the preloaded files of their main thread as well.
if (isMainThread) hold();
else if (process.env['NODE_USE_ENV_PROXY'] === '1') joinNetwork(process.env);

function forgetThisModule(): void {
  delete cache[__filename];
  const { _preload_modules: listed } = process as unknown as { _preload_modules: string[] };
  const others = listed.filter((path) => path !== __filename);
  Object.defineProperty(process, '_preload_modules', { value: others, enumerable: true, configurable: true });
}

function hold(): void {
  const { incoming, outgoing } = moveLink();
  const { send, isOpen } = createReports(outgoing);
  send({ type: 'waiting' });
  for (;;) {
    const message = parse(readFrame(incoming)) as HoldMessage;
    if (message.type === 'rehearse') {
      rehearse(message);
      send({ type: 'rehearsed' });
    } else {
      const { skills, session } = message;
      const tellValue = (told: ToldProgramValue): void => {
        if (isOpen()) send({ type: 'value', ...told });
        else if ('json' in told) {
          // This text is not JSON, so the supervisor reports the value as invalid.
          const text = typeof told.json === 'string' ? told.json : `too large: ${told.json} bytes`;
          writeFileSync(message.env['SKILLCELL_VALUE'] ?? '', text);
        }
      };
      const link = { incoming, outgoing, isOpen, send, tellValue };
      const held: HeldProgram = { ...link, skills, session, connect: () => connect(held) };
      begin(message, held);
      return;
    }
  }
}

/** Makes the bridge for a program that imports `skillcell`. */
function connect(held: HeldProgram): object {
  const { connectBridge } = createRequire(__filename)('./bridge.cjs') as typeof Bridges;
  return connectBridge(held, pathToFileURL(`${__dirname}/guest/`).href).bridge;
}

/** Opens both ends anew at high numbers, where no child inherits them, and closes the low ones. */
function moveLink(): { incoming: number; outgoing: number } {
  const fillers: number[] = [];
  try {
    for (const descriptor of [GIVEN_INCOMING, GIVEN_OUTGOING]) fillers.push(...bothEnds(descriptor));
    do fillers.push(openSync('/dev/null', 'r'));
    while ((fillers.at(-1) ?? 0) < FIRST_DESCRIPTOR - 1);
    const incoming = openSync(`/dev/fd/${GIVEN_INCOMING}`, 'r');
    const outgoing = openSync(`/dev/fd/${GIVEN_OUTGOING}`, 'w');
    fillers.push(GIVEN_INCOMING, GIVEN_OUTGOING);
    return { incoming, outgoing };
  } catch {
    // The limit of descriptors is too low for high numbers. The link works at its low numbers as well.
    return { incoming: GIVEN_INCOMING, outgoing: GIVEN_OUTGOING };
  } finally {
    fillers.forEach((descriptor) => closeSync(descriptor));
  }
}

/**
 * Opens both ends of a fifo of the link, if this account may. Opening one end waits for the other end: without a supervisor, which may have
 * been killed in the meantime, for ever.
 */
function bothEnds(descriptor: number): number[] {
  try {
    return [openSync(`/dev/fd/${descriptor}`, 'r+')];
  } catch {
    // The account of user code may not. The kernel ends its processes with their supervisor.
    return [];
  }
}

function readFrame(descriptor: number): string {
  const body = Buffer.allocUnsafe(readExactly(descriptor, HEADER_BYTES).readUIntLE(0, 3));
  return readExactly(descriptor, body.length).toString();
}

function readExactly(descriptor: number, size: number): Buffer {
  const bytes = Buffer.allocUnsafe(size);
  for (let filled = 0; filled < size;) {
    const count = readSync(descriptor, bytes, filled, size - filled, null);
    // The supervisor has no program for this process.
    if (count === 0) process.exit(70);
    filled += count;
  }
  return bytes;
}

/**
 * Loads ahead the slow parts of a program's start: Node's type stripper for TypeScript, and zod for the code of skills. Each loaded
 * module delays the end of the process, so no other module is loaded.
 */
function rehearse({ skillCode, network }: HoldMessage & { type: 'rehearse' }): void {
  const load = createRequire(__filename);
  if (/\.[mc]?ts$/.test(process.argv[1] ?? '')) load('./sample-module.mts');
  if (skillCode) load('./guest/skill-code/rehearse.mjs');
  for (const path of Object.keys(cache)) delete cache[path];
  // Loads the clients of HTTP and TLS, and undoes the change.
  if (network) joinProxy({ https_proxy: 'http://127.0.0.1' })();
}

/** Makes the clients of Node use the proxy and the certificates that the environment names, as Node does at its start. */
function joinNetwork(env: NodeJS.ProcessEnv): void {
  joinProxy(env);
  trustAuthority(env);
}

function joinProxy(env: NodeJS.ProcessEnv): () => void {
  const { setGlobalProxyFromEnv } = process.getBuiltinModule('node:http') as unknown as {
    setGlobalProxyFromEnv(env: NodeJS.ProcessEnv): () => void;
  };
  return setGlobalProxyFromEnv(env);
}

/** All connections of TLS end at the host, so no other authority can have signed a certificate. */
function trustAuthority({ NODE_EXTRA_CA_CERTS: path }: NodeJS.ProcessEnv): void {
  if (path !== undefined) process.getBuiltinModule('node:tls').setDefaultCACertificates([readFileSync(path)]);
}

function begin({ path, args, env, cwd, network }: RunMessage, held: HeldProgram): void {
  for (const name of Object.keys(process.env)) delete process.env[name];
  Object.assign(process.env, env);
  process.argv.length = 1;
  process.argv.push(path, ...args);
  process.chdir(cwd);
  if (network === true && env['NODE_USE_ENV_PROXY'] === '1') joinNetwork(env);
  Object.defineProperty(Module, BRIDGE, { value: held });
  runAsMain(path);
  STANDARD_STREAMS.forEach(waitForReaders);
  if (held.session === undefined) watchProgram(path, held);
}

/** Makes Node's own entry run this path instead of the path from Node's start. A bound function appears in no stack. */
function runAsMain(path: string): void {
  const described = Object.getOwnPropertyDescriptor(Module, 'runMain') as PropertyDescriptor;
  const original = described.value as (path: string) => void;
  Object.defineProperty(Module, 'runMain', {
    configurable: true,
    get() {
      Object.defineProperty(Module, 'runMain', described);
      return original.bind(Module, path);
    },
  });
}

/**
 * Makes a standard stream of Node wait for its reader where the stream is a pipe. Otherwise `process.exit()` drops the output that did not
 * fit into the pipe. docs/decisions/2026-11-26-standard-streams-are-the-interpreters-own.md
 */
function waitForReaders(name: 'stdout' | 'stderr'): void {
  const described = Object.getOwnPropertyDescriptor(process, name) as PropertyDescriptor;
  Object.defineProperty(process, name, {
    ...described,
    get() {
      Object.defineProperty(process, name, described);
      const stream = described.get?.call(process) as { _handle?: { setBlocking?(waits: boolean): void } };
      stream._handle?.setBlocking?.(true);
      return stream;
    },
  });
}

/** Reports the facts that only the interpreter knows: the error that ends the program, and the value that the program exports. */
function watchProgram(path: string, held: HeldProgram): void {
  const text = readFileSync(path, 'utf8');
  const exported = /\bexport\b/.test(text) && !WATCHES_LOADING.test(text) ? followExports(path, text) : () => undefined;
  if (callsMissingRequire(path, text))
    Object.defineProperty(globalThis, 'require', { value: createRequire(path), configurable: true, writable: true });
  let failure: { is: unknown } | undefined;
  process.on('uncaughtExceptionMonitor', (error: unknown) => {
    const handled = process.listenerCount('uncaughtException') > 0 || process.hasUncaughtExceptionCaptureCallback();
    failure = handled ? undefined : { is: error };
  });
  process.on('exit', () => {
    try {
      if (failure !== undefined)
        held.send({ type: 'report', error: shortTexts(describeError(failure.is, wholeStack)) });
      const isTold = held.isValueSet === true || failure !== undefined;
      const value = isTold ? undefined : (exported() ?? exportsOfCommonJs(path));
      const told = value === undefined ? undefined : jsonOfExport(value);
      if (told !== undefined) held.tellValue(told);
    } catch {
      // The program has replaced functions that this code needs. The program still ends as it would without this listener.
    }
  });
}

/** A program's stack has no internal frames, so nothing is cut. */
function wholeStack(stack: string): string {
  return stack;
}

interface Namespace {
  default?: unknown;
}

/**
 * Follows the default export of a module, and never runs the program for it. At the end of the program the loader returns the module without a wait, unless the
 * module itself awaits: such a module is imported while it runs. An import would call an export named `then`, so a module that may have one is not imported. Files
 * that `NODE_OPTIONS` names run before the program and may end the process, so the module counts as run once such a process ends by itself.
 */
function followExports(path: string, text: string): () => unknown {
  const isFirst = (process.env['NODE_OPTIONS'] ?? '') === '';
  const awaits = /\bawait\b/.test(text) && !OWN_THEN.test(text);
  let hasBegun = isFirst;
  let namespace: Namespace | undefined;
  // An import would run the getters of a CommonJS program's exports, or the whole program again where it has failed.
  const isModule = (): boolean => process.mainModule === undefined;
  const look = (): void => {
    hasBegun = true;
    if (!awaits || !isModule()) return;
    import(pathToFileURL(path).href).then(
      (loaded: Namespace) => (namespace = loaded),
      () => undefined,
    );
  };
  if (!isFirst) process.once('beforeExit', look);
  else if (awaits) setImmediate(look);
  const load = createRequire(path);
  return () => (namespace ?? (hasBegun && isModule() ? (load(path) as Namespace) : undefined))?.default;
}

function exportsOfCommonJs(path: string): unknown {
  const exported = cache[path]?.exports;
  const isUntouched = typeof exported === 'object' && exported !== null && ownKeys(exported).length === 0;
  return isUntouched ? undefined : exported;
}

/** Whether a program is an ES module that would fail because it has no `require`: models mix both module systems. */
function callsMissingRequire(path: string, text: string): boolean {
  if (!/\brequire\s*\(/.test(text) || /\btypeof\s+require\b/.test(text) || OWN_REQUIRE.test(text)) return false;
  const ending = extname(path);
  if (ending.startsWith('.c')) return false;
  return ending.startsWith('.m') || /^[\t ]*(?:import|export)\b/m.test(text) || isInModulePackage(path);
}

function isInModulePackage(path: string): boolean {
  try {
    const found = findPackageJSON(pathToFileURL(path).href);
    return found !== undefined && (parse(readFileSync(found, 'utf8')) as { type?: unknown }).type === 'module';
  } catch {
    // Node itself reports an unreadable package.json to the program.
    return false;
  }
}
