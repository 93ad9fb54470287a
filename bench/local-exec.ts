import { createOrchestrator } from '../src/jobs/create-orchestrator.ts';
import { createLocalRunner } from '../src/sandboxes/local/local-runner.ts';
import type { OrchestratorOptions } from '../src/jobs/orchestrator.ts';
import type { ExecOptions } from '../src/contracts/jobs/job.ts';
import { BARE_NODE, BARE_PYTHON, bareNode, barePython } from './bare-node.ts';
import type { BenchmarkGroup, BenchmarkOptions } from './benchmark-group.ts';
import { execSubject } from './exec-subject.ts';
import { fiveSkills } from './generate-skills.ts';
import { type Measurement, timedRow } from './measurement.ts';
import { takeTurns } from './take-turns.ts';

const SAMPLES = 40;

const JAVASCRIPT: ExecOptions = { code: 'console.log(6 * 7)' };
const PYTHON: ExecOptions = { code: 'print(6 * 7)', language: 'python' };

interface ExecBenchmark {
  id: string;
  goal: string | null;
  options: OrchestratorOptions;
  job: ExecOptions;
  /** The bare Node if absent. */
  baseline?: string;
}

const BENCHMARKS: readonly ExecBenchmark[] = [
  { id: 'local.namespace.js.warm', goal: 'ratio ≤ 0.6', options: { pool: { size: 1 } }, job: JAVASCRIPT },
  { id: 'local.namespace.js.cold', goal: 'ratio ≤ 3', options: {}, job: JAVASCRIPT },
  { id: 'local.namespace.js.cold.skills5', goal: 'ratio ≤ 3.5', options: {}, job: JAVASCRIPT },
  {
    id: 'local.namespace.py.warm',
    goal: 'ratio ≤ 0.5',
    options: { pool: { size: 1, languages: ['python'] } },
    job: PYTHON,
  },
  {
    id: 'local.namespace.js.warm.started',
    goal: 'ratio ≤ 1.2',
    options: { pool: { size: 1 } },
    job: { ...JAVASCRIPT, env: { TZ: 'Asia/Tokyo' } },
  },
  {
    id: 'local.namespace.py.warm.started',
    goal: 'ratio ≤ 1.2',
    options: { pool: { size: 1, languages: ['python'] } },
    job: { ...PYTHON, env: { TZ: 'Asia/Tokyo' } },
    baseline: BARE_PYTHON,
  },
  { id: 'local.none.js.cold', goal: null, options: {}, job: { ...JAVASCRIPT, isolation: 'none' } },
];

const BASELINES = [
  { id: BARE_NODE, sample: bareNode },
  { id: BARE_PYTHON, sample: barePython },
];

/** From the call of `exec` to its result, for a program of one line. */
export const localExec: BenchmarkGroup = { ids: BENCHMARKS.map(({ id }) => id), run };

async function run({ samples = SAMPLES, wants, progress }: BenchmarkOptions): Promise<Measurement[]> {
  const { subsystem, ids, remove } = await fiveSkills();
  const chosen = BENCHMARKS.filter(({ id }) => wants(id)).map((benchmark) => {
    const skills = benchmark.id.endsWith('skills5');
    return {
      ...benchmark,
      orchestrator: createOrchestrator({
        runners: [createLocalRunner()],
        ...benchmark.options,
        ...(skills ? { skills: subsystem } : {}),
      }),
      job: skills ? { ...benchmark.job, skills: { refs: ids } } : benchmark.job,
    };
  });
  try {
    const subjects = chosen.map(({ id, orchestrator, job, options }) =>
      execSubject(id, orchestrator, job, options.pool !== undefined),
    );
    const needed = new Set(chosen.map(({ baseline = BARE_NODE }) => baseline));
    const baselines = BASELINES.filter(({ id }) => needed.has(id));
    const values = await takeTurns([...baselines, ...subjects], samples, progress);
    return chosen.map(({ id, goal, baseline = BARE_NODE }) => timedRow(values, { id, goal, baseline }));
  } finally {
    await Promise.all(chosen.map(({ orchestrator }) => orchestrator.close()));
    await remove();
  }
}
