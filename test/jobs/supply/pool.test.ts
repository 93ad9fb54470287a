import { readFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ExecOptions } from '../../../src/contracts/jobs/job.ts';
import type { JobResult } from '../../../src/contracts/jobs/result.ts';
import { SkillcellError } from '../../../src/contracts/errors/skillcell-error.ts';
import { createOrchestrator } from '../../../src/jobs/create-orchestrator.ts';
import type { Orchestrator, PoolOptions } from '../../../src/jobs/orchestrator.ts';
import { controlGroupLayout } from '../../../src/sandboxes/local/control-group.ts';
import { createLocalRunner } from '../../../src/sandboxes/local/local-runner.ts';
import type { Runner } from '../../../src/sandboxes/runner.ts';
import { BEST_LEVEL, LEVELS, SHARED_LEVELS, requireLevel } from '../../fixtures/levels.ts';
import { descendants, killProcess, sandboxLeftovers } from '../../fixtures/sandbox-leftovers.ts';
import { IS_SAMPLE } from '../../fixtures/share.ts';
import { until } from '../../fixtures/until.ts';

/** Processor time of the waiting sandboxes, in hundredths of a second. */
function ticksOfWaiting(): number {
  const waiting = descendants(process.pid).filter(({ command }) => /\bentry\.cjs\b/.test(command));
  return waiting.reduce((sum, { pid }) => {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    const [user, system] = stat
      .slice(stat.lastIndexOf(')') + 2)
      .split(' ')
      .slice(11, 13)
      .map(Number);
    return sum + (user ?? 0) + (system ?? 0);
  }, 0);
}

type Level = (typeof LEVELS)[number];
let orchestrator: Orchestrator;

async function open(isolation: Level, pool: Partial<PoolOptions> = {}, concurrency = 2): Promise<void> {
  orchestrator = createOrchestrator({ concurrency, pool: { size: 1, isolation, ...pool } });
  await orchestrator.warm();
}

describe.each(IS_SAMPLE ? [BEST_LEVEL] : LEVELS)('warm sandboxes at level %s', (isolation) => {
  beforeEach((context) => requireLevel(context, isolation));
  afterEach(() => orchestrator.close());

  it('do not serve jobs with other limits, of another language or at another level, and are counted', async () => {
    await open(isolation);
    const others: Partial<ExecOptions>[] = [
      { limits: { memoryMib: 400 } },
      ...(IS_SAMPLE
        ? []
        : [
            { limits: { pids: 50 } },
            { limits: { cpus: 0.9 } },
            { limits: { workspaceMib: 64 } },
            { limits: { workspaceInodes: 4_000 } },
          ]),
      { language: 'typescript' },
      ...(BEST_LEVEL === 'none' ? [] : [{ isolation: isolation === 'none' ? BEST_LEVEL : ('none' as const) }]),
    ];
    for (const other of others) {
      expect(
        await orchestrator.exec({ isolation, code: 'export default 1', ...other }),
        JSON.stringify(other),
      ).toMatchObject({
        outcome: 'succeeded',
        usage: { warm: false },
      });
    }
    expect((await orchestrator.exec({ isolation, code: 'export default 1' })).usage.warm).toBe(true);
    await orchestrator.warm();
    const { javascript, ...further } = await orchestrator.poolMetrics();
    expect(further).toEqual({});
    expect(javascript).toMatchObject({ size: 1, waiting: 1, hits: 1, misses: 0, startFailures: 0 });
    expect(javascript?.refillMs).toBeGreaterThan(5);
    if (controlGroupLayout() === null) expect(javascript?.idleBytes).toBeNull();
    else expect(javascript?.idleBytes).toBeGreaterThan(1024 * 1024);
  });
});

describe.each(SHARED_LEVELS)('warm sandboxes at level %s', (isolation) => {
  beforeEach((context) => requireLevel(context, isolation));
  afterEach(() => orchestrator.close());
  const run = (code: string, more: Partial<ExecOptions> = {}): Promise<JobResult> =>
    orchestrator.exec({ isolation, code, ...more });

  it('have the limits of the pool; other limits of a job are reported in its result, with both values', async () => {
    await open(isolation, { limits: { memoryMib: 300 } });
    const differ = async (limits: ExecOptions['limits']): Promise<[warm: boolean, messages: string[]]> => {
      const { usage, diagnostics } = await run('1', limits === undefined ? {} : { limits });
      const found = diagnostics.filter(({ code }) => code === 'pool.limits-differ');
      return [usage.warm, found.map(({ message }) => message)];
    };
    expect(await differ({ memoryMib: 400, pids: 50 })).toEqual([
      false,
      ['No warm sandbox has the limits of this job: memoryMib 400, in the pool 300, pids 50, in the pool 64.'],
    ]);
    expect((await differ(undefined))[0]).toBe(false);
    expect(await differ({ memoryMib: 300, runTimeoutMs: 5_000 })).toEqual([true, []]);
    // No sandbox waits, but the job cannot change that, so there is no diagnostic.
    expect((await differ({ memoryMib: 300 }))[1]).toEqual([]);
  });

  it('serve fitting jobs, with any clocks and output caps, once each: no state of a job is left in the next one', async () => {
    await open(isolation);
    const code = `import { writeFileSync, existsSync } from 'node:fs';
      const seen = [globalThis.mark, existsSync('mark'), existsSync('/tmp/mark'), existsSync('out/mark'), process.env.MARK, Array.prototype.mark];
      globalThis.mark = 1; Array.prototype.mark = 1; process.env.MARK = '1';
      for (const path of ['mark', ...(process.env.TMPDIR === '/tmp' ? ['/tmp/mark'] : []), 'out/mark']) writeFileSync(path, 'x');
      export default seen.map((value) => value ?? null);`;
    for (const limits of [
      {},
      { runTimeoutMs: 5_000, jobTimeoutMs: 9_000, keptOutputBytes: 10, artifactFiles: 1, calls: 3 },
      {},
    ]) {
      await orchestrator.warm();
      const result = await run(code, { limits });
      expect(result).toMatchObject({ outcome: 'succeeded', usage: { warm: true } });
      expect(result.value).toEqual([null, false, false, false, null, null]);
    }
  });

  it('serve as many jobs at once as there are members; further jobs start cold', async () => {
    // At concurrency 2 the third job could start when there is another member.
    await open(isolation, { size: 2 }, 3);
    const results = await Promise.all([1, 2, 3].map((value) => run(`export default ${value}`)));
    expect(results.map(({ value }) => value)).toEqual([1, 2, 3]);
    expect(results.filter(({ usage }) => usage.warm)).toHaveLength(2);
  });

  it('are replaced if they die while they wait', async () => {
    await open(isolation);
    const waiting = descendants(process.pid).filter(({ command }) => /\bentry\.cjs\b/.test(command));
    expect(waiting.length).toBeGreaterThan(0);
    for (const { pid } of waiting) killProcess(pid);
    await until(async () => {
      await orchestrator.warm();
      const now = descendants(process.pid).filter(({ command }) => /\bentry\.cjs\b/.test(command));
      return now.length > 0 && now.every(({ pid }) => !waiting.some((row) => row.pid === pid));
    }, 'another member');
    await orchestrator.warm();
    expect(await run('export default 1')).toMatchObject({ outcome: 'succeeded', value: 1 });
  });

  it('are asked whether they still answer, at the interval of the pool', async () => {
    await open(isolation, { checkIntervalMs: 20 });
    // A sandbox that is never asked does not work at all.
    const before = ticksOfWaiting();
    await until(() => ticksOfWaiting() > before + 20, 'answers of the waiting sandbox');
    expect(await run('export default 1')).toMatchObject({ outcome: 'succeeded', value: 1 });
  });

  it('end with close(), even while they start and while they serve', async () => {
    orchestrator = createOrchestrator({ pool: { size: 3, isolation } });
    await new Promise((resolve) => setTimeout(resolve, 60));
    await orchestrator.close();
    expect(sandboxLeftovers()).toEqual([]);
    await open(isolation, { size: 1 });
    const job = orchestrator.stream({
      kind: 'exec',
      isolation,
      code: 'console.log("up"); setInterval(() => {}, 1000);',
    });
    for await (const { type } of job) if (type === 'output') break;
    await orchestrator.close();
    expect(await job.result).toMatchObject({ outcome: 'canceled', usage: { warm: true } });
    expect(sandboxLeftovers()).toEqual([]);
  });
});

it('a job takes over the sandbox that the pool is starting, and names the runners that were passed over', async (context) => {
  requireLevel(context, 'none');
  const local = createLocalRunner();
  let starts = 0;
  // Only the first start ends, which is the pool's.
  const first: Runner = {
    ...local,
    start: (spec, options) =>
      (starts += 1) === 1
        ? local.start(spec, options)
        : new Promise((_, reject) => {
            options.signal.addEventListener('abort', () => reject(options.signal.reason as Error));
          }),
  };
  const broken: Runner = {
    ...local,
    name: 'broken',
    start: () => Promise.reject(new SkillcellError('runner.isolation-unmet', 'Cannot start: it is broken.')),
  };
  await using orchestrator = createOrchestrator({
    runners: [broken, first],
    pool: { size: 1, isolation: 'none' },
  });
  const result = await orchestrator.exec({ isolation: 'none', code: 'export default 1' });
  expect(result).toMatchObject({ outcome: 'succeeded', value: 1, usage: { warm: false } });
  expect(result.diagnostics).toContainEqual(
    expect.objectContaining({ code: 'runner.passed-over', message: expect.stringContaining('it is broken') as string }),
  );
  const { javascript } = await orchestrator.poolMetrics();
  expect(javascript).toMatchObject({ hits: 0, misses: 1, startFailures: 0 });
});

it('a pool for several languages has members of each', async (context) => {
  requireLevel(context, 'none');
  await using orchestrator = createOrchestrator({
    pool: { size: 1, isolation: 'none', languages: ['typescript', 'bash'] },
  });
  await orchestrator.warm();
  const typescript = await orchestrator.exec({
    isolation: 'none',
    language: 'typescript',
    code: 'export default 1 as number',
  });
  const bash = await orchestrator.exec({ isolation: 'none', language: 'bash', code: 'echo hi' });
  const javascript = await orchestrator.exec({ isolation: 'none', code: '1' });
  expect([typescript, bash, javascript].map(({ usage }) => usage.warm)).toEqual([true, true, false]);
});
