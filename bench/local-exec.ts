import { createOrchestrator } from '../src/orchestrator/create-orchestrator.ts';
import type { Orchestrator, OrchestratorOptions } from '../src/orchestrator/orchestrator.ts';
import type { ExecOptions } from '../src/contracts/job.ts';
import { BARE_NODE, bareNode } from './bare-node.ts';
import type { BenchmarkGroup, BenchmarkOptions } from './benchmark-group.ts';
import { fiveSkills } from './generate-skills.ts';
import { measurementOf, type Measurement } from './measurement.ts';
import { takeTurns, type Subject } from './take-turns.ts';

/** Time for what a job left behind to be removed; the caller of a job does not wait for that. */
const SETTLE_MS = 50;
const SAMPLES = 40;

const JAVASCRIPT: ExecOptions = { code: 'console.log(6 * 7)' };
const PYTHON: ExecOptions = { code: 'print(6 * 7)', language: 'python' };

interface ExecBenchmark {
  id: string;
  goal: string | null;
  options: OrchestratorOptions;
  job: ExecOptions;
}

const BENCHMARKS: readonly ExecBenchmark[] = [
  { id: 'local.namespace.js.warm', goal: 'ratio ≤ 0.5', options: { pool: { size: 1 } }, job: JAVASCRIPT },
  { id: 'local.namespace.js.cold', goal: 'ratio ≤ 3', options: {}, job: JAVASCRIPT },
  { id: 'local.namespace.js.cold.skills5', goal: 'ratio ≤ 3.5', options: {}, job: JAVASCRIPT },
  {
    id: 'local.namespace.py.warm',
    goal: null,
    options: { pool: { size: 1, languages: ['python'] } },
    job: PYTHON,
  },
  { id: 'local.none.js.cold', goal: null, options: {}, job: { ...JAVASCRIPT, isolation: 'none' } },
];

/** From the call of `exec` to its result, for a program of one line. */
export const localExec: BenchmarkGroup = { ids: BENCHMARKS.map(({ id }) => id), run };

async function run({ samples = SAMPLES, wants, progress }: BenchmarkOptions): Promise<Measurement[]> {
  const { subsystem, ids, remove } = await fiveSkills();
  const chosen = BENCHMARKS.filter(({ id }) => wants(id)).map((benchmark) => {
    const skills = benchmark.id.endsWith('skills5');
    return {
      ...benchmark,
      orchestrator: createOrchestrator({ ...benchmark.options, ...(skills ? { skills: subsystem } : {}) }),
      job: skills ? { ...benchmark.job, skills: { refs: ids } } : benchmark.job,
    };
  });
  try {
    const subjects = chosen.map(({ id, orchestrator, job, options }) =>
      execSubject(id, orchestrator, job, options.pool !== undefined),
    );
    const values = await takeTurns([{ id: BARE_NODE, sample: bareNode }, ...subjects], samples, progress);
    const baseline = { id: BARE_NODE, values: values.get(BARE_NODE) ?? [] };
    return chosen.map(({ id, goal }) =>
      measurementOf({ id, unit: 'ms', goal, values: values.get(id) ?? [], baseline }),
    );
  } finally {
    await Promise.all(chosen.map(({ orchestrator }) => orchestrator.close()));
    await remove();
  }
}

function execSubject(id: string, orchestrator: Orchestrator, job: ExecOptions, warm: boolean): Subject {
  return {
    id,
    async prepare() {
      await orchestrator.warm();
      await new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
    },
    async sample() {
      const started = performance.now();
      const result = await orchestrator.exec(job);
      const taken = performance.now() - started;
      if (result.stdout.text !== '42\n' || result.usage.warm !== warm) {
        throw new Error(`Cannot measure ${id}: the job went another way, got ${JSON.stringify(result)}.`);
      }
      // The pool is filled again before another subject's turn.
      await orchestrator.warm();
      await new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
      return taken;
    },
  };
}
