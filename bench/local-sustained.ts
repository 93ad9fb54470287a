import { createOrchestrator } from '../src/jobs/create-orchestrator.ts';
import { createLocalRunner } from '../src/sandboxes/local/local-runner.ts';
import { BARE_NODE, bareNode } from './bare-node.ts';
import type { BenchmarkGroup, BenchmarkOptions } from './benchmark-group.ts';
import { measurementOf, type Measurement } from './measurement.ts';
import { takeTurns, type Subject } from './take-turns.ts';

/** Number of successive jobs in each place. */
const JOBS = 10;
const ROUNDS = 8;
const CONCURRENCY = { 'local.sustained.concurrency1': 1, 'local.sustained.concurrency2': 2 } as const;

/** Jobs per second without a pause: jobs for which the pool is not refilled in time start cold, or wait. */
export const localSustained: BenchmarkGroup = { ids: Object.keys(CONCURRENCY), run };

async function run({ samples = ROUNDS, wants, progress }: BenchmarkOptions): Promise<Measurement[]> {
  await using orchestrator = createOrchestrator({ runners: [createLocalRunner()], pool: { size: 2 } });
  const exec = async (): Promise<void> => {
    const { outcome } = await orchestrator.exec({ code: 'console.log(6 * 7)' });
    if (outcome !== 'succeeded') throw new Error(`Cannot measure: a job did not succeed, got ${outcome}.`);
  };
  const chosen = Object.entries(CONCURRENCY).filter(([id]) => wants(id));
  const subjects = chosen.flatMap(([id, places]): Subject[] => [
    { id: `${BARE_NODE}.${places}`, sample: () => perSecond(places, async () => void (await bareNode())) },
    { id, prepare: () => orchestrator.warm(), sample: () => perSecond(places, exec) },
  ]);
  const values = await takeTurns(subjects, samples, progress);
  return chosen.map(([id, places]) => {
    const baseline = `${BARE_NODE}.${places}`;
    return measurementOf({
      id,
      unit: 'jobs/s',
      goal: null,
      values: values.get(id) ?? [],
      baseline: { id: baseline, values: values.get(baseline) ?? [] },
    });
  });
}

async function perSecond(places: number, work: () => Promise<void>): Promise<number> {
  const started = performance.now();
  await Promise.all(
    Array.from({ length: places }, async () => {
      for (let done = 0; done < JOBS; done += 1) await work();
    }),
  );
  return (places * JOBS * 1000) / (performance.now() - started);
}
