import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { BuiltInLanguage as Language } from '../../src/contracts/jobs/language.ts';

/** The result of a program without any restriction. */
export interface PlainRun {
  code: number | null;
  signal: string | null;
  stdout: string;
  stderr: string;
  /** Milliseconds until its last output stream had ended. */
  tookMs: number;
}

/** Options of {@link plainly}. */
export interface PlainOptions {
  args?: readonly string[];
  env?: Record<string, string>;
  /** Words before the interpreter, for example a bubblewrap line that protects less. */
  launcher?: readonly string[];
  /** The program is killed after this time. @default 90,000 */
  timeoutMs?: number;
}

const COMMANDS: Record<Language, { file: string; command: string[] }> = {
  javascript: { file: 'main.mjs', command: [process.execPath] },
  typescript: { file: 'main.mts', command: [process.execPath] },
  python: { file: 'main.py', command: ['/usr/bin/python3', '-B'] },
  bash: { file: 'main.sh', command: ['/bin/bash'] },
};

const runs = new Map<string, Promise<PlainRun>>();

/**
 * Runs a program as an ordinary child of this process, without restrictions, as a control for an attack. Its working folder is new. A program without
 * arguments and environment runs once for all levels.
 */
export function plainly(language: Language, code: string, options: PlainOptions = {}): Promise<PlainRun> {
  if (options.args !== undefined || options.env !== undefined) return runPlainly(language, code, options);
  const key = JSON.stringify([language, code, options]);
  const run = runs.get(key) ?? runPlainly(language, code, options);
  runs.set(key, run);
  return run;
}

async function runPlainly(language: Language, code: string, options: PlainOptions): Promise<PlainRun> {
  const folder = await mkdtemp(join(tmpdir(), 'attack-'));
  try {
    const { file, command } = COMMANDS[language];
    await writeFile(join(folder, file), code);
    return await runCommand([...(options.launcher ?? []), ...command, join(folder, file), ...(options.args ?? [])], {
      cwd: folder,
      ...options,
    });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Runs a command to its end, without blocking this process. */
export async function runCommand(
  command: readonly string[],
  options: { cwd?: string; env?: Record<string, string>; timeoutMs?: number; input?: string } = {},
): Promise<PlainRun> {
  const [program = '', ...args] = command;
  const started = performance.now();
  const child = spawn(program, args, {
    ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
    env: { ...process.env, ...options.env },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const timer = setTimeout(() => child.kill('SIGKILL'), options.timeoutMs ?? 90_000);
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  // A program may end before it has read its input.
  child.stdin.on('error', () => undefined);
  child.stdin.end(options.input ?? '');
  const ended = await new Promise<Pick<PlainRun, 'code' | 'signal'>>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => resolve({ code, signal }));
  });
  clearTimeout(timer);
  return { ...ended, stdout, stderr, tookMs: performance.now() - started };
}

/**
 * Makes a Python program from attempts: each is an expression that runs in its own child process, so that its changes stay there, or in this process
 * if it says so. The program prints one JSON object: the value of each attempt, `reached` if there is no value, or the name of the system's error.
 */
export function attempts(setUp: string, expressions: Record<string, string>): string {
  const rows = Object.entries(expressions).map(([name, code]) => `attempt(${JSON.stringify(name)}, lambda: ${code})`);
  return [PRELUDE, setUp, ...rows, 'print(json.dumps(report))'].join('\n');
}

/**
 * For each kind of target the first that an unrestricted program reaches here, by an expression that calls it `path`: a target that is unreachable on
 * this machine would be refused without any sandbox, and proves nothing.
 */
export async function reachedPlainly(
  kinds: Record<string, readonly string[]>,
  expression: string,
): Promise<Record<string, string>> {
  const paths = Object.values(kinds).flat();
  const code = attempts('', Object.fromEntries(paths.map((path) => [path, at(path, expression)])));
  const open = reportOf((await plainly('python', code)).stdout);
  const reached: Record<string, string> = {};
  for (const [kind, candidates] of Object.entries(kinds)) {
    const path = candidates.find((candidate) => open[candidate] === 'reached');
    if (path !== undefined) reached[kind] = path;
  }
  return reached;
}

/** An expression with a path in place of the word `path`. */
export function at(path: string, expression: string): string {
  return expression.replaceAll(/\bpath\b(?!\()/g, () => JSON.stringify(path));
}

const PRELUDE = `
import ctypes, errno, json, os, socket, struct, subprocess, sys, time
libc = ctypes.CDLL(None, use_errno=True)
report = {}
def called(result):
    if result == -1:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return None
def syscall(number, *arguments):
    return called(libc.syscall(ctypes.c_long(number), *[ctypes.c_long(a) if isinstance(a, int) else a for a in arguments]))
def opened(path, flags):
    os.close(os.open(path, flags))
def created(path):
    os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY))
    os.unlink(path)
def content(path):
    with open(path, 'rb') as file:
        return file.read(4096).decode('latin1')
def readable(path):
    try:
        return content(path)
    except OSError:
        return ''
def connected(family, kind, address):
    with socket.socket(family, kind) as attempted:
        attempted.settimeout(1)
        attempted.connect(address)
def attempt(name, function):
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            value = function()
            answer = 'reached' if value is None else value
        except OSError as error:
            answer = errno.errorcode.get(error.errno, type(error).__name__)
        except BaseException as error:
            answer = type(error).__name__
        os.write(writing, json.dumps(answer).encode())
        os._exit(0)
    os.close(writing)
    parts = []
    while True:
        part = os.read(reading, 65536)
        if not part:
            break
        parts.append(part)
    os.close(reading)
    os.waitpid(child, 0)
    report[name] = json.loads(b''.join(parts) or b'"died"')
`;

/** Reads the report of a program made by {@link attempts}. */
export function reportOf(text: string): Record<string, unknown> {
  return JSON.parse(text) as Record<string, unknown>;
}
