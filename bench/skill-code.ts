import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ExecOptions } from '../src/contracts/jobs/job.ts';
import { createOrchestrator } from '../src/jobs/create-orchestrator.ts';
import type { Orchestrator, OrchestratorOptions } from '../src/jobs/orchestrator.ts';
import { createLocalRunner } from '../src/sandboxes/local/local-runner.ts';
import { loadSkillsSubsystem } from '../src/skills/index.ts';
import type { BenchmarkGroup, BenchmarkOptions } from './benchmark-group.ts';
import { execSubject } from './exec-subject.ts';
import { measurementOf, type Measurement } from './measurement.ts';
import { takeTurns, type Subject } from './take-turns.ts';

const SAMPLES = 30;
const CALLS = 200;
const FIRST = 'skillcode.first.warm';
const CALL = 'skillcode.call';
const WARM_EXEC = 'exec.warm';
const TOOL_CALL = 'tools.call';

const SKILL = '---\nname: sum\ndescription: Adds.\ntoolsets: ["tools:Tools"]\n---\nAdd.\n';
const TOOLSET = `import { z } from 'zod';
import { Tool } from '@agent/tools';
export const Tools = [Tool.define('sum', { description: 'Adds.', parameters: z.object({ a: z.number(), b: z.number() }), execute: async ({ a, b }) => a + b })];
`;

/** Tools that a skill brings as code, at level namespace: the first call of a job, and each later call. */
export const skillCode: BenchmarkGroup = { ids: [FIRST, CALL], run };

async function run({ samples = SAMPLES, wants, progress }: BenchmarkOptions): Promise<Measurement[]> {
  const root = mkdtempSync(join(tmpdir(), 'skill-code-'));
  mkdirSync(join(root, 'sum'));
  writeFileSync(join(root, 'sum/SKILL.md'), SKILL);
  writeFileSync(join(root, 'sum/tools.ts'), TOOLSET);
  const skills = loadSkillsSubsystem({ roots: [{ kind: 'user', path: root }] });
  const input = { type: 'object', properties: { a: { type: 'number' }, b: { type: 'number' } } };
  const options: OrchestratorOptions = {
    runners: [createLocalRunner()],
    skills,
    tools: [
      {
        id: 'host.sum',
        description: 'Adds.',
        input,
        effect: 'read',
        execute: async (given: unknown) => {
          const { a, b } = given as { a: number; b: number };
          return a + b;
        },
      },
    ],
  };
  const orchestrator = createOrchestrator({ ...options, pool: { size: 2 } });
  // A pool that refills would take processor time from the measured calls.
  const unpooled = createOrchestrator(options);
  try {
    const job: ExecOptions = { code: 'console.log(6 * 7)', skills: { refs: ['custom.sum'] }, tools: ['sum'] };
    const code = "import { tools } from 'skillcell'; console.log(await tools.sum({ a: 40, b: 2 }));";
    const subjects = [
      execSubject(WARM_EXEC, orchestrator, job, true),
      execSubject(FIRST, orchestrator, { ...job, code }, true),
      callSubject(TOOL_CALL, unpooled, 'host.sum'),
      callSubject(CALL, unpooled, 'sum'),
    ].filter(({ id }) => wants(id) || (wants(FIRST) && id === WARM_EXEC) || (wants(CALL) && id === TOOL_CALL));
    const values = await takeTurns(subjects, samples, progress);
    const row = (id: string, baseline: string, unit: string): Measurement =>
      measurementOf({
        id,
        unit,
        goal: 'ratio ≤ 2.5',
        values: values.get(id) ?? [],
        baseline: { id: baseline, values: values.get(baseline) ?? [] },
      });
    return [row(FIRST, WARM_EXEC, 'ms'), row(CALL, TOOL_CALL, 'ms')].filter(({ id }) => wants(id));
  } finally {
    await Promise.all([orchestrator.close(), unpooled.close()]);
    rmSync(root, { recursive: true, force: true });
  }
}

/** Successive calls within a job, each with two numbers; the first is not counted. */
function callSubject(id: string, orchestrator: Orchestrator, tool: string): Subject {
  const code = `import { tools } from 'skillcell';
await tools.call('${tool}', { a: 1, b: 1 });
const started = performance.now();
for (let a = 0; a < ${CALLS}; a += 1) if (await tools.call('${tool}', { a, b: 1 }) !== a + 1) throw new Error('a wrong sum');
export default (performance.now() - started) / ${CALLS};`;
  return {
    id,
    async sample() {
      const result = await orchestrator.exec({ code, skills: { refs: ['custom.sum'] }, tools: [tool] });
      if (typeof result.value !== 'number') throw new Error(`Cannot measure ${id}: got ${JSON.stringify(result)}.`);
      return result.value;
    },
  };
}
