import { setTimeout as pause } from 'node:timers/promises';
import type Docker from 'dockerode';
import { afterEach, expect } from 'vitest';
import { createOrchestrator } from '../../../src/jobs/create-orchestrator.ts';
import type { Orchestrator, PoolMetrics, PoolOptions } from '../../../src/jobs/orchestrator.ts';
import { createDockerRunner } from '../../../src/sandboxes/docker/docker-runner.ts';
import { imageName } from '../../../src/sandboxes/docker/build/image.ts';
import { createOwnEngine, ownEngineTest } from '../../fixtures/own-engine.ts';
import { dockerImage, dockerTest, MISSING_ENGINE } from '../../fixtures/docker-image.ts';
import { listOwnContainers, ownContainers } from '../../fixtures/own-containers.ts';
import { until } from '../../fixtures/until.ts';

const MIB = 1024 * 1024;

async function open(pool: Partial<PoolOptions>): Promise<Orchestrator> {
  const { bundle } = await dockerImage();
  const runners = [createDockerRunner({ bundle })];
  return createOrchestrator({ runners, sweepIntervalMs: 0, pool: { size: 1, isolation: 'container', ...pool } });
}

/** The metrics of a pool for one language. */
async function metricsOf(orchestrator: Orchestrator, language: 'javascript' | 'python'): Promise<PoolMetrics> {
  const metrics = (await orchestrator.poolMetrics())[language];
  if (metrics === undefined) throw new Error(`no pool for ${language}`);
  return metrics;
}

dockerTest(
  'warm containers serve each language of the pool, one job each, and poolMetrics() counts them',
  {},
  async () => {
    await using orchestrator = await open({ size: 2, languages: ['javascript', 'python', 'bash', 'typescript'] });
    await orchestrator.warm();
    expect(await listOwnContainers()).toHaveLength(8);
    const codes = {
      javascript: 'console.log(1)',
      python: 'print(1)',
      bash: 'echo 1',
      typescript: 'console.log(1 as number)',
    };
    for (const [language, code] of Object.entries(codes) as [keyof typeof codes, string][]) {
      const result = await orchestrator.exec({ isolation: 'container', language, code });
      expect(result, language).toMatchObject({ outcome: 'succeeded', stdout: { text: '1\n' }, usage: { warm: true } });
    }
    await orchestrator.warm();
    const metrics = await orchestrator.poolMetrics();
    expect(Object.keys(metrics).toSorted()).toEqual(['bash', 'javascript', 'python', 'typescript']);
    for (const row of Object.values(metrics)) {
      expect(row).toMatchObject({ size: 2, waiting: 2, hits: 1, misses: 0, startFailures: 0 });
      expect(row.refillMs).toBeGreaterThan(10);
      expect(row.idleBytes).toBeGreaterThan(5 * MIB);
      expect(row.idleBytes).toBeLessThan(200 * MIB);
    }
  },
);

dockerTest('a burst is served, first by the pool, and leaves a full pool and nothing else', {}, async () => {
  await using orchestrator = await open({ size: 2 });
  await orchestrator.warm();
  const jobs = Array.from({ length: 10 }, (_, index) =>
    orchestrator.exec({ isolation: 'container', code: `export default ${index}` }),
  );
  expect((await Promise.all(jobs)).map(({ value }) => value)).toEqual(Array.from({ length: 10 }, (_, index) => index));
  await orchestrator.warm();
  const { hits, misses, waiting } = await metricsOf(orchestrator, 'javascript');
  expect(hits).toBeGreaterThanOrEqual(2);
  expect(hits + misses).toBe(10);
  expect(waiting).toBe(2);
  await until(async () => (await listOwnContainers()).length === 2, 'the removal of the used containers');
});

dockerTest('a warm container that is killed from outside is replaced before a job gets it', {}, async () => {
  await using orchestrator = await open({});
  await orchestrator.warm();
  const [before] = await listOwnContainers();
  const { engine } = await dockerImage();
  await engine.getContainer(before?.Id ?? '').kill();
  await until(async () => {
    const [now, ...more] = await listOwnContainers();
    return now !== undefined && more.length === 0 && now.Id !== before?.Id;
  }, 'another container');
  await orchestrator.warm();
  const result = await orchestrator.exec({ isolation: 'container', code: 'export default 1' });
  expect(result).toMatchObject({ outcome: 'succeeded', value: 1, usage: { warm: true } });
});

dockerTest('waiting containers can be checked often, and still serve afterwards', {}, async () => {
  await using orchestrator = await open({ checkIntervalMs: 50, codegen: true });
  await orchestrator.warm();
  const [before] = await listOwnContainers();
  const idle = (await metricsOf(orchestrator, 'javascript')).idleBytes ?? 0;
  await pause(2_000);
  expect((await listOwnContainers()).map(({ Id }) => Id)).toEqual([before?.Id]);
  expect((await metricsOf(orchestrator, 'javascript')).idleBytes).toBeLessThan(idle + 64 * MIB);
  await until(async () => (await metricsOf(orchestrator, 'javascript')).waiting === 1, 'a moment without a check');
  const code = `import { readdirSync } from 'node:fs'; export default readdirSync(process.env.SKILLS_DIR)`;
  const result = await orchestrator.exec({ isolation: 'container', code });
  expect(result).toMatchObject({ outcome: 'succeeded', value: [] });
});

dockerTest('an idle pool keeps one container for each language, and close() removes it', {}, async () => {
  const orchestrator = await open({ size: 3, idleMs: 300 });
  await orchestrator.warm();
  await until(async () => (await listOwnContainers()).length === 1, 'the end of the others');
  expect(await metricsOf(orchestrator, 'javascript')).toMatchObject({ size: 1, waiting: 1 });
  await orchestrator.close();
  expect(await ownContainers()).toEqual([]);
});

ownEngineTest('a pool survives a restart of its engine', 120_000, async () => {
  const { engine, bundle } = await dockerImage();
  await using own = await createOwnEngine();
  await own.takeImage(engine, imageName('slim', bundle.digest));
  const rejections: unknown[] = [];
  const keep = (error: unknown): void => void rejections.push(error);
  process.on('unhandledRejection', keep);
  try {
    await using orchestrator = createOrchestrator({
      runners: [createDockerRunner({ host: own.host, bundle })],
      sweepIntervalMs: 0,
      pool: { size: 2, isolation: 'container' },
    });
    const run = async (): Promise<{ warm: boolean }> =>
      (await orchestrator.exec({ isolation: 'container', code: '1' })).usage;
    await orchestrator.warm();
    expect(await run()).toMatchObject({ warm: true });
    await own.stop('SIGTERM');
    await until(async () => (await metricsOf(orchestrator, 'javascript')).startFailures > 0, 'a failed start');
    await expect(run()).rejects.toMatchObject({ code: 'engine.unavailable' });
    const { waiting, startFailures } = await metricsOf(orchestrator, 'javascript');
    expect(waiting).toBe(0);
    await pause(1_000);
    expect((await metricsOf(orchestrator, 'javascript')).startFailures - startFailures).toBeLessThanOrEqual(3);
    await own.start();
    await run();
    // That job succeeded, so the pool tries again without waiting.
    await until(async () => (await metricsOf(orchestrator, 'javascript')).waiting === 2, 'a full pool');
    expect(await run()).toMatchObject({ warm: true });
    // Containers that the engine could not remove while it went down are removed by the next sweep.
    expect((await orchestrator.sweep()).failed).toEqual([]);
    await orchestrator.close();
    expect(await containersAt(own.client)).toEqual([]);
    expect(rejections).toEqual([]);
  } finally {
    process.off('unhandledRejection', keep);
  }
});

async function containersAt(engine: Docker): Promise<string[]> {
  return (await engine.listContainers({ all: true })).map(({ Names, State }) => `${Names.join()} ${State}`);
}

// close() waits some seconds for a busy engine and then gives up: leftovers of one test would be counted by the next.
afterEach(async () => {
  if (MISSING_ENGINE === undefined)
    await until(async () => (await ownContainers()).length === 0, 'the end of all containers');
});
