import { build, stop } from 'esbuild';
import { spawn, type ChildProcessByStdio } from 'node:child_process';
import { chmodSync, constants, copyFileSync, cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { afterAll } from 'vitest';
import type { ExecOptions } from '../../src/contracts/jobs/job.ts';
import type { JobResult } from '../../src/contracts/jobs/result.ts';
import type { RunnerReport } from '../../src/sandboxes/runner.ts';
import { ensureRuntime, type RuntimeBundle } from '../../src/sandboxes/runtime-bundle.ts';
import { runCommand } from './plainly.ts';

/** A uid that no other process on the machine has, nor another test run, so that its remains can be counted. */
export const ORDINARY_UID: number = 62_000 + (process.pid % 2_000);

/** The order for a separate host. */
export interface HostOrder {
  jobs: Partial<ExecOptions>[];
  probe?: boolean;
}

/** The answer of a separate host. */
export interface HostAnswer {
  reports: RunnerReport[];
  runs: { result?: JobResult; error?: { code: string; message: string } }[];
  left: string[];
}

interface Installation {
  folder: string;
  node: string;
  program: string;
  bundle: RuntimeBundle;
}

let installation: Promise<Installation> | undefined;

afterAll(async () => {
  if (installation !== undefined) rmSync((await installation).folder, { recursive: true, force: true });
});

/** The host program, Node and the runtime bundle in a folder that any user can read. */
async function install(): Promise<Installation> {
  const folder = mkdtempSync(join(tmpdir(), 'attack-host-'));
  chmodSync(folder, 0o755);
  const node = join(folder, 'node');
  copyFileSync(process.execPath, node, constants.COPYFILE_FICLONE);
  chmodSync(node, 0o755);
  const program = join(folder, 'host-program.mjs');
  await build({
    entryPoints: [fileURLToPath(new URL('host-program.ts', import.meta.url))],
    outdir: folder,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    // Splits modules that load at first use: in one file their packages would be read before they exist.
    splitting: true,
    platform: 'node',
    format: 'esm',
    // These tests start no containers, and the engine's client contains native code.
    external: ['vitest', 'esbuild', 'dockerode'],
    // CommonJS packages in the bundle load Node's own modules with `require`.
    banner: {
      js: "import { createRequire as requireOfBundle } from 'node:module'; const require = requireOfBundle(import.meta.url);",
    },
    logLevel: 'error',
  });
  const bundle = await ensureRuntime();
  await stop();
  cpSync(bundle.folder, join(folder, 'runtime'), { recursive: true });
  const home = join(folder, 'home');
  mkdirSync(home);
  chmodSync(home, 0o777);
  return { folder, node, program, bundle: { ...bundle, folder: join(folder, 'runtime') } };
}

/** Options of a separate host. */
export interface SeparateHostOptions {
  /** Words before Node, for example to change the user. */
  launcher?: readonly string[];
  env?: Record<string, string>;
}

/** Words that run a program as an ordinary user of this machine; none if this process already is one. */
export function asOrdinaryUser(): string[] {
  if (process.getuid?.() !== 0) return [];
  return ['/usr/bin/setpriv', `--reuid=${ORDINARY_UID}`, `--regid=${ORDINARY_UID}`, '--clear-groups'];
}

async function command(
  options: SeparateHostOptions,
): Promise<{ words: string[]; env: Record<string, string>; bundle: RuntimeBundle }> {
  const { node, program, bundle, folder } = await (installation ??= install());
  const home = join(folder, 'home');
  return {
    words: [...(options.launcher ?? []), node, program],
    env: { HOME: home, XDG_CACHE_HOME: join(home, '.cache'), TMPDIR: '/tmp', ...options.env },
    bundle,
  };
}

/** Runs jobs one after the other in a separate process, and returns its answer. */
export async function runSeparateHost(order: HostOrder, options: SeparateHostOptions = {}): Promise<HostAnswer> {
  const { words, env, bundle } = await command(options);
  const run = await runCommand(words, {
    env,
    cwd: '/',
    input: JSON.stringify({ ...order, bundle }),
    timeoutMs: 90_000,
  });
  if (run.code !== 0) throw new Error(`the host ended with ${run.code ?? run.signal}: ${run.stderr.slice(-2_000)}`);
  return JSON.parse(run.stdout) as HostAnswer;
}

/** Starts such a process, and resolves when its first program runs. */
export async function startSeparateHost(
  order: HostOrder,
  options: SeparateHostOptions = {},
): Promise<ChildProcessByStdio<Writable, Readable, Readable>> {
  const { words, env, bundle } = await command(options);
  const [file = '', ...args] = words;
  const child = spawn(file, args, { env: { ...process.env, ...env }, cwd: '/', stdio: ['pipe', 'pipe', 'pipe'] });
  child.stdin.end(JSON.stringify({ ...order, bundle }));
  let said = '';
  await new Promise<void>((resolve, reject) => {
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      said += text;
      if (said.includes('a program runs')) resolve();
    });
    child.once('exit', (code, signal) => reject(new Error(`the host ended with ${code ?? signal}: ${said}`)));
  });
  return child;
}
