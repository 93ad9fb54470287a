import type { ExecOptions } from '../src/contracts/jobs/job.ts';
import { createOrchestrator } from '../src/jobs/create-orchestrator.ts';
import type { Orchestrator } from '../src/jobs/orchestrator.ts';
import { createDockerRunner } from '../src/sandboxes/docker/docker-runner.ts';
import { BARE_NODE, bareNode } from './bare-node.ts';
import type { BenchmarkGroup, BenchmarkOptions } from './benchmark-group.ts';
import { benchEngine, CONTAINER_FLOOR, containerFloor } from './container-floor.ts';
import { execSubject } from './exec-subject.ts';
import { fiveSkills } from './generate-skills.ts';
import { type Measurement, timedRow } from './measurement.ts';
import { takeTurns, type Subject } from './take-turns.ts';

const SAMPLES = 30;
const WARM_JS = 'docker.js.warm';
const WARM_PY = 'docker.py.warm';
const COLD_JS = 'docker.js.cold';
const DRY_RUN = 'docker.codegen.dryrun.warm';

const GOALS: Readonly<Record<string, string | null>> = {
  [WARM_JS]: 'ratio ≤ 0.6, p95 ≤ 1 × the baseline',
  [WARM_PY]: 'ratio ≤ 0.5, p95 ≤ 1 × the baseline',
  [COLD_JS]: 'ratio ≤ 1.3',
  [DRY_RUN]: null,
};

/** From the call of `exec` or `codegen` to its result, in a fresh container, with five skills. */
export const dockerExec: BenchmarkGroup = { ids: Object.keys(GOALS), run };

async function run({ samples = SAMPLES, wants, progress }: BenchmarkOptions): Promise<Measurement[]> {
  const engine = await benchEngine(progress);
  const { subsystem, ids, remove } = await fiveSkills();
  const runners = [createDockerRunner()];
  const skills = { refs: ids };
  const javascript: ExecOptions = { code: 'console.log(6 * 7)', skills };
  const python: ExecOptions = { code: 'print(6 * 7)', language: 'python', skills };
  const warm = createOrchestrator({
    skills: subsystem,
    runners,
    pool: { size: 1, languages: ['javascript', 'python'], codegen: true },
  });
  const cold = createOrchestrator({ skills: subsystem, runners: [createDockerRunner()] });
  const subjects: Subject[] = [
    execSubject(WARM_JS, warm, javascript, true),
    execSubject(WARM_PY, warm, python, true),
    execSubject(COLD_JS, cold, javascript, false),
    dryRunSubject(warm, ids),
  ].filter(({ id }) => wants(id));
  try {
    const baselines: Subject[] = [
      { id: BARE_NODE, sample: bareNode },
      ...(wants(COLD_JS) ? [{ id: CONTAINER_FLOOR, sample: () => containerFloor(engine) }] : []),
    ];
    const values = await takeTurns([...baselines, ...subjects], samples, progress);
    return subjects.map(({ id }) => {
      const baseline = id === COLD_JS ? CONTAINER_FLOOR : BARE_NODE;
      return timedRow(values, { id, goal: GOALS[id] ?? null, baseline });
    });
  } finally {
    await Promise.all([warm.close(), cold.close()]);
    await remove();
  }
}

function dryRunSubject(orchestrator: Orchestrator, refs: string[]): Subject {
  return {
    id: DRY_RUN,
    prepare: () => orchestrator.warm(),
    async sample() {
      const started = performance.now();
      const result = await orchestrator.codegen({ task: 'Count the rows.', dryRun: true, skills: { refs } });
      const taken = performance.now() - started;
      if (result.outcome !== 'succeeded' || !result.usage.warm)
        throw new Error('Cannot measure: the dry run did not succeed in a warm sandbox.');
      await orchestrator.warm();
      return taken;
    },
  };
}
