import { createOrchestrator } from '../src/jobs/create-orchestrator.ts';
import { createDockerRunner } from '../src/sandboxes/docker/docker-runner.ts';
import type { BenchmarkGroup, BenchmarkOptions } from './benchmark-group.ts';
import { benchEngine, CONTAINER_FLOOR, containerFloor, type Engine } from './container-floor.ts';
import { fiveSkills } from './generate-skills.ts';
import { measurementOf, quantile, type Measurement } from './measurement.ts';

const CONCURRENCY = [1, 2, 4, 8];
const JOBS = 40;
const ROUNDS = 3;
const ID = 'docker.throughput';

/** Jobs per second, one container per job, against the rate of bare containers; the best concurrency of each counts. */
export const dockerThroughput: BenchmarkGroup = { ids: [ID, ...CONCURRENCY.map((places) => `${ID}.c${places}`)], run };

async function run({ samples = ROUNDS, progress }: BenchmarkOptions): Promise<Measurement[]> {
  const engine = await benchEngine(progress);
  const { subsystem, ids, remove } = await fiveSkills();
  const created = await countCreations(engine);
  const ours = new Map<number, number[]>(CONCURRENCY.map((places) => [places, []]));
  const floors = new Map<number, number[]>(CONCURRENCY.map((places) => [places, []]));
  let jobs = 0;
  let pooled = 0;
  try {
    for (let round = 0; round < samples; round += 1) {
      for (const places of CONCURRENCY) {
        floors.get(places)?.push(await perSecond(places, async () => void (await containerFloor(engine))));
        await using orchestrator = createOrchestrator({
          skills: subsystem,
          runners: [createDockerRunner()],
          concurrency: places,
          pool: { size: places },
        });
        const exec = async (): Promise<void> => {
          const { outcome } = await orchestrator.exec({ code: '6 * 7', skills: { refs: ids } });
          if (outcome !== 'succeeded') throw new Error(`Cannot measure: a job did not succeed, got ${outcome}.`);
        };
        // The pool is still empty: each container that serves a job is created while the clock runs.
        ours.get(places)?.push(await perSecond(places, exec));
        jobs += JOBS;
        pooled += places;
        progress(`round ${round + 1}, concurrency ${places}`);
      }
    }
    const seen = created.stop();
    // The only other containers are pool members that no job took.
    if (seen < jobs || seen > jobs + 2 * pooled) {
      throw new Error(`Cannot measure: containers were not made one a job, got ${seen} for ${jobs} jobs.`);
    }
    progress(`${seen} containers for ${jobs} jobs; the rest waited in pools`);
  } finally {
    created.stop();
    await remove();
  }
  return [
    best(ours, floors),
    ...CONCURRENCY.map((places) => row(`${ID}.c${places}`, null, ours.get(places), floors.get(places))),
  ];
}

function best(ours: Map<number, number[]>, floors: Map<number, number[]>): Measurement {
  const highest = (rates: Map<number, number[]>): number[] =>
    [...rates.values()].reduce((a, b) => (quantile(a, 0.5) >= quantile(b, 0.5) ? a : b));
  return row(ID, 'ratio ≥ 0.7', highest(ours), highest(floors));
}

function row(id: string, goal: string | null, values: number[] = [], floor: number[] = []): Measurement {
  return measurementOf({ id, unit: 'jobs/s', goal, values, baseline: { id: CONTAINER_FLOOR, values: floor } });
}

async function perSecond(places: number, work: () => Promise<void>): Promise<number> {
  const started = performance.now();
  let left = JOBS;
  await Promise.all(
    Array.from({ length: places }, async () => {
      for (; left > 0;) {
        left -= 1;
        await work();
      }
    }),
  );
  return (JOBS * 1000) / (performance.now() - started);
}

/** Counts the engine's create events of this project's containers. */
async function countCreations({ docker }: Engine): Promise<{ stop(): number }> {
  const events = await docker.getEvents({
    filters: { type: ['container'], event: ['create'], label: ['skillcell.managed=true'] },
  });
  let count = 0;
  events.on('data', (chunk: Buffer) => {
    count += chunk.toString('utf8').trim().split('\n').length;
  });
  return {
    stop() {
      (events as unknown as { destroy(): void }).destroy();
      return count;
    },
  };
}
