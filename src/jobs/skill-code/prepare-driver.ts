import type { Skill } from '../../contracts/skills/skill.ts';
import { DEFAULT_LIMITS, LIMIT_CEILINGS, type JobLimits, type SandboxLimits } from '../../contracts/jobs/limits.ts';
import { takeCatalog } from '../../skills/catalog/catalog.ts';
import { makePortableDescriptor } from '../../skills/descriptor/make-descriptor.ts';
import type { CheckedRequest } from '../request/job-schema.ts';
import { prepareJob, type PreparedJob } from '../prepare/prepare-job.ts';
import type { DriverJob } from './skill-sandbox.ts';

const PROGRAMS: Record<DriverJob['language'], string> = {
  javascript:
    "import 'skillcell';\nimport Module from 'node:module';\nawait import(Module[Symbol.for('skillcell.bridge')].bridge.modules + 'skill-code/driver.mjs');\n",
  python: 'import skillcell\nimport _skillcell_skill_code\n_skillcell_skill_code.serve()\n',
};
const KEPT_OUTPUT = 16 * 1024;
/** A call is an order and an answer; in addition a driver sometimes asks and gets no order. */
const CALLS_PER_CALL = 4;

/**
 * Prepares the job that runs the code of one skill. It has only the bytes of that skill, the isolation level of the job that it serves,
 * and the limits of the warm sandboxes. Its clocks are at their ceilings: it ends with the job that it serves.
 */
export async function prepareDriver(
  { limits }: { limits: SandboxLimits },
  { runner, isolation, limits: asked }: CheckedRequest,
  skill: Skill,
  { tree, language, spec, tools }: DriverJob,
): Promise<PreparedJob> {
  const { runTimeoutMs, jobTimeoutMs } = LIMIT_CEILINGS;
  const calls = Math.min(LIMIT_CEILINGS.calls, CALLS_PER_CALL * (asked?.calls ?? DEFAULT_LIMITS.calls) + 1_000);
  const own: Partial<JobLimits> = { runTimeoutMs, jobTimeoutMs, calls, keptOutputBytes: KEPT_OUTPUT };
  const job = await prepareJob(
    {
      kind: 'exec',
      code: PROGRAMS[language],
      language,
      args: [spec],
      limits: { ...limits, ...own },
      tools: tools.map(({ id }) => id),
      ...(runner === undefined ? {} : { runner }),
      ...(isolation === undefined ? {} : { isolation }),
    },
    { skills: undefined, tools, ceilings: {}, model: 'none' },
  );
  const descriptor = makePortableDescriptor(
    {
      customSkillsRoot: null,
      bundleRoot: null,
      agentsConfig: {},
      overrides: [],
      customNamespaces: NAMESPACES.has(skill.namespace) ? [] : [skill.namespace],
      catalog: takeCatalog(undefined, []),
    },
    [skill],
  );
  const trees = new Map([[skill.id, tree]]);
  return { ...job, trees, active: [skill.id], globals: { ...job.globals, SKILLS_DESCRIPTOR: descriptor } };
}

const NAMESPACES = new Set(['public', 'internal', 'custom']);
