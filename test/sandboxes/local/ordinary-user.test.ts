import { build } from 'esbuild';
import { execFile } from 'node:child_process';
import { chmodSync, copyFileSync, cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it, type TestContext } from 'vitest';
import type { ExecOptions } from '../../../src/contracts/jobs/job.ts';
import type { JobResult } from '../../../src/contracts/jobs/result.ts';
import type { RunnerReport } from '../../../src/sandboxes/runner.ts';
import { ensureRuntime } from '../../../src/sandboxes/runtime-bundle.ts';
import { hostProcesses } from '../../fixtures/sandbox-leftovers.ts';

const isRoot = process.getuid?.() === 0;
const USER = '65534';
const run = promisify(execFile);

interface Answer {
  uid: number;
  reports: RunnerReport[];
  results: JobResult[];
}

describe('as an ordinary user, without control groups', () => {
  let folder: string;
  let reports: RunnerReport[] = [];

  beforeAll(async () => {
    if (!isRoot) return;
    folder = mkdtempSync(join(tmpdir(), 'ordinary-'));
    chmodSync(folder, 0o755);
    // All files that the other user must read: a Node, the runtime bundle, and a few files with the library.
    copyFileSync(process.execPath, join(folder, 'node'));
    cpSync((await ensureRuntime()).folder, join(folder, 'runtime'), { recursive: true });
    await build({
      entryPoints: [fileURLToPath(new URL('../../fixtures/ordinary-user-host.ts', import.meta.url))],
      entryNames: 'host',
      outdir: folder,
      outExtension: { '.js': '.mjs' },
      bundle: true,
      // In a single file, esbuild would run some modules of Zod too late for their users.
      splitting: true,
      platform: 'node',
      format: 'esm',
      banner: {
        js: "import { createRequire as requireOf } from 'node:module'; const require = requireOf(import.meta.url);",
      },
      // Only jobs in containers load it.
      external: ['dockerode'],
      logLevel: 'silent',
    });
    for (const name of ['home', 'temporary']) {
      mkdirSync(join(folder, name));
      chmodSync(join(folder, name), 0o777);
    }
    ({ reports } = await asUser([]));
  });
  afterAll(() => {
    if (isRoot) rmSync(folder, { recursive: true });
  });

  async function asUser(jobs: ExecOptions[]): Promise<Answer> {
    const drop = [`--reuid=${USER}`, `--regid=${USER}`, '--clear-groups', '--inh-caps=-all', '--bounding-set=-all'];
    const command = [join(folder, 'node'), join(folder, 'host.mjs'), join(folder, 'runtime'), JSON.stringify(jobs)];
    const env = { HOME: join(folder, 'home'), TMPDIR: join(folder, 'temporary'), PATH: '/usr/bin:/bin' };
    const { stdout } = await run('setpriv', [...drop, ...command], { env, maxBuffer: 64 * 1024 * 1024 });
    const answer = JSON.parse(stdout) as Answer;
    expect(answer.uid).toBe(Number(USER));
    return answer;
  }

  function reportOf(level: 'none' | 'namespace', context: TestContext): RunnerReport | undefined {
    context.skip(!isRoot, 'only root can become another user');
    const report = reports.find(({ isolation }) => isolation === level);
    const reasons = report?.reasons.join('; ') ?? 'no report';
    // Skip only if this machine denies user namespaces to ordinary users; any other reason is a failure.
    context.skip(
      level === 'namespace' && /bwrap: |bubblewrap/.test(reasons),
      `an ordinary user cannot start bubblewrap here: ${reasons}`,
    );
    expect({ available: report?.available, reasons }).toEqual({ available: true, reasons: '' });
    return report;
  }

  it('removes the folders of level none, even if a program closed some of them', async (context) => {
    reportOf('none', context);
    const code = 'for i in {1..300}; do mkdir -p d$i/a/b; echo x >d$i/f; done; mkdir z; echo x >z/f; chmod 0 z d7 .';
    const { results } = await asUser(Array.from({ length: 6 }, () => ({ isolation: 'none', language: 'bash', code })));
    expect(results.map(({ outcome }) => outcome)).toEqual(Array(6).fill('succeeded'));
    expect(readdirSync(join(folder, 'temporary'))).toEqual([]);
  });

  it('reports in probe and results the limits that the kernel does not enforce', async (context) => {
    expect(reportOf('namespace', context)?.limits).toEqual({
      memory: 'watched',
      cpus: 'none',
      pids: 'kernel',
      workspace: 'kernel',
      inodes: 'kernel',
    });
    expect(reportOf('none', context)?.limits).toMatchObject({
      memory: 'watched',
      cpus: 'none',
      pids: 'none',
      workspace: 'watched',
    });
    const { results } = await asUser([
      { isolation: 'namespace', code: 'export default [process.getuid(), process.getgid()]' },
      { isolation: 'none', code: 'export default process.getuid()' },
    ]);
    const codes = results.map(({ diagnostics }) =>
      diagnostics.map(({ code, message }) => `${code} ${/limit of (\w+)/.exec(message)?.[1]}`),
    );
    expect(codes[0]).toEqual(['limit.watched memory', 'limit.unenforced cpus']);
    expect(codes[1]).toEqual(
      expect.arrayContaining([
        'limit.watched memory',
        'limit.unenforced cpus',
        'limit.unenforced pids',
        'limit.watched workspace',
      ]),
    );
    expect(results.map(({ value }) => value)).toEqual([[1000, 1000], Number(USER)]);
    for (const { usage } of results) expect(usage).toMatchObject({ cpuMs: null, maxRssBytes: null });
  });

  it('enforces memory by the watch at both levels', async (context) => {
    reportOf('namespace', context);
    const code =
      'const held = []; for (;;) { held.push(Buffer.alloc(16 << 20, 1)); await new Promise((resolve) => setTimeout(resolve, 5)); }';
    const limits = { memoryMib: 200, runTimeoutMs: 20_000 };
    const { results } = await asUser([
      { isolation: 'namespace', code, limits },
      { isolation: 'none', code, limits },
    ]);
    expect(results.map(({ outcome }) => outcome)).toEqual(['out_of_memory', 'out_of_memory']);
  });

  it('B01 limits processes at level namespace by RLIMIT_NPROC of the inner user', async (context) => {
    reportOf('namespace', context);
    const code = `import { spawn } from 'node:child_process';
      import { setValue } from 'skillcell';
      const start = () => new Promise((resolve) => {
        try {
          const child = spawn('sleep', ['30']);
          child.on('error', () => resolve(0));
          child.on('spawn', () => resolve(1));
        } catch { resolve(0); }
      });
      let started = 0;
      for (let count = 0; count < 80; count += 1) started += await start();
      setValue(started);
      process.exit(0);`;
    const { results } = await asUser([
      { isolation: 'namespace', code, limits: { pids: 50 } },
      { isolation: 'namespace', code, limits: { pids: 200 } },
      { isolation: 'namespace', language: 'bash', code: 'ulimit -u', limits: { pids: 50 } },
    ]);
    expect(results[0]?.value).toBeGreaterThan(5);
    expect(results[0]?.value).toBeLessThan(50);
    expect(results[1]?.value).toBe(80);
    expect(results[2]?.stdout.text).toBe('50\n');
  });

  it('limits the workspace at level namespace by its own file system', async (context) => {
    reportOf('namespace', context);
    const { results } = await asUser([
      {
        isolation: 'namespace',
        language: 'bash',
        code: 'head -c 20000000 /dev/zero >big',
        limits: { workspaceMib: 8 },
      },
      {
        isolation: 'namespace',
        language: 'bash',
        code: 'for i in $(seq 400); do : >f$i || exit 1; done',
        limits: { workspaceInodes: 200 },
      },
    ]);
    expect(results[0]).toMatchObject({ outcome: 'limit', limit: 'workspace' });
    expect(results[1]).toMatchObject({ outcome: 'limit', limit: 'inodes' });
  });

  it('ends daemons at the deadline, and removes all files, even in folders without permissions', async (context) => {
    reportOf('namespace', context);
    const name = `ordinary-daemon-${process.pid}`;
    const code = `setsid bash -c 'exec -a ${name} sleep 600' &\nmkdir -p locked/inner; touch locked/inner/file; chmod 000 locked/inner locked\nsleep 600`;
    const limits = { runTimeoutMs: 500, graceMs: 100 };
    const { results } = await asUser([
      { isolation: 'namespace', language: 'bash', code, limits },
      { isolation: 'none', language: 'bash', code, limits },
    ]);
    expect(results.map(({ outcome }) => outcome)).toEqual(['timeout', 'timeout']);
    expect(hostProcesses().filter(({ command }) => command.startsWith(name))).toEqual([]);
    expect(readdirSync(join(folder, 'temporary'))).toEqual([]);
    expect(existsSync(join(folder, 'home', '.cache', 'skillcell'))).toBe(true);
  });
});
