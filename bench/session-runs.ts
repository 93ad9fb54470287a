import { createOrchestrator } from '../src/jobs/create-orchestrator.ts';
import { createLocalRunner } from '../src/sandboxes/local/local-runner.ts';
import { startBareEvaluator } from './bare-evaluator.ts';
import type { BenchmarkGroup, BenchmarkOptions } from './benchmark-group.ts';
import { measurementOf, quantile, type Measurement } from './measurement.ts';
import { takeTurns, type Subject } from './take-turns.ts';

const ROUNDS = 15;
const RUNS = 200;
const ROWS = [
  { id: 'session.js.run', language: 'javascript', relayed: true, goal: 'ratio ≤ 3' },
  { id: 'session.py.run', language: 'python', relayed: true, goal: 'ratio ≤ 3' },
  { id: 'session.js.run.unrelayed', language: 'javascript', relayed: false, goal: null },
  { id: 'session.py.run.unrelayed', language: 'python', relayed: false, goal: null },
] as const;

/** One short run of an open session, at level namespace. */
export const sessionRuns: BenchmarkGroup = { ids: ROWS.map(({ id }) => id), run };

async function run({ samples = ROUNDS, wants, progress }: BenchmarkOptions): Promise<Measurement[]> {
  await using cleanUp = new AsyncDisposableStack();
  const orchestrator = cleanUp.use(createOrchestrator({ runners: [createLocalRunner()] }));
  const rows = ROWS.filter(({ id }) => wants(id));
  const subjects: Subject[] = [];
  for (const { id, language, relayed } of rows) {
    const bare = cleanUp.use(startBareEvaluator(language, relayed));
    const session = cleanUp.use(await orchestrator.session({ language }));
    const runInSession = async (code: string): Promise<unknown> => {
      const { value, state } = await session.run(code);
      if (state !== 'kept') throw new Error(`Cannot measure ${id}: the session lost its state.`);
      return value;
    };
    subjects.push(
      repeated(`${id}.bare`, (code) => bare.run(code)),
      repeated(id, runInSession),
    );
  }
  const values = await takeTurns(subjects, samples, progress);
  return rows.map(({ id, goal }) =>
    measurementOf({
      ...{ id, unit: 'ms', goal, values: values.get(id) ?? [] },
      baseline: { id: `${id}.bare`, values: values.get(`${id}.bare`) ?? [] },
    }),
  );
}

/** The median time of many successive runs. */
function repeated(id: string, evaluate: (code: string) => Promise<unknown>): Subject {
  return {
    id,
    async sample() {
      const times: number[] = [];
      for (let made = 0; made < RUNS; made += 1) {
        const started = performance.now();
        const value = await evaluate(`${made} + 1`);
        times.push(performance.now() - started);
        if (value !== made + 1) throw new Error(`Cannot measure ${id}: ${made} + 1 came to ${String(value)}.`);
      }
      return quantile(times, 0.5);
    },
  };
}
