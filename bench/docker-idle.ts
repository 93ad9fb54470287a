import { createOrchestrator } from '../src/jobs/create-orchestrator.ts';
import { createDockerRunner } from '../src/sandboxes/docker/docker-runner.ts';
import type { BenchmarkGroup, BenchmarkOptions } from './benchmark-group.ts';
import { benchEngine, type Engine } from './container-floor.ts';
import { measurementOf, type Measurement } from './measurement.ts';

const MIB = 1024 * 1024;
const IDLE = 'docker.idle.memory';
const OVERHEAD = 'docker.host.memory';
const RUNNING = 8;

/** The memory of a waiting container, and the growth of the host process for each running job. */
export const dockerIdle: BenchmarkGroup = { ids: [IDLE, OVERHEAD], run };

async function run({ wants, progress }: BenchmarkOptions): Promise<Measurement[]> {
  const engine = await benchEngine(progress);
  const rows: Measurement[] = [];
  if (wants(IDLE)) rows.push(await idleMemory(engine));
  if (wants(OVERHEAD)) rows.push(await hostMemory());
  return rows;
}

async function idleMemory({ docker }: Engine): Promise<Measurement> {
  await using orchestrator = createOrchestrator({ runners: [createDockerRunner()], pool: { size: 3 } });
  await orchestrator.warm();
  const found = await docker.listContainers({ filters: { label: ['skillcell.managed=true'] } });
  const values = await Promise.all(
    found.map(async ({ Id }) => {
      const { memory_stats: memory } = await docker.getContainer(Id).stats({ stream: false });
      return memory.usage / MIB;
    }),
  );
  const baseline = { id: 'node.rss', values: [process.memoryUsage.rss() / MIB] };
  return measurementOf({ id: IDLE, unit: 'MiB', goal: null, values, baseline });
}

/** Growth of this process for each of several concurrent jobs. */
async function hostMemory(): Promise<Measurement> {
  await using orchestrator = createOrchestrator({ runners: [createDockerRunner()], concurrency: RUNNING });
  const sleep = { code: 'await new Promise((resolve) => setTimeout(resolve, 6_000))' };
  await orchestrator.exec({ code: '1' });
  const before = await settledRss();
  const jobs = Array.from({ length: RUNNING }, () => orchestrator.exec(sleep));
  await new Promise((resolve) => setTimeout(resolve, 4_000));
  const grown = (await settledRss()) - before;
  await Promise.all(jobs);
  const baseline = { id: 'node.rss', values: [before] };
  return measurementOf({
    id: OVERHEAD,
    unit: 'MiB',
    goal: '≤ 2 MiB',
    values: [Math.max(0, grown / RUNNING)],
    baseline,
  });
}

async function settledRss(): Promise<number> {
  globalThis.gc?.();
  await new Promise((resolve) => setTimeout(resolve, 200));
  return process.memoryUsage.rss() / MIB;
}
