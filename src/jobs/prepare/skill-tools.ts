import type { Tool } from '../../tools/define/tool.ts';
import { DEFAULT_CONSUMER } from '../../contracts/jobs/job.ts';
import type { Skill } from '../../contracts/skills/skill.ts';
import { SkillcellError } from '../../contracts/errors/skillcell-error.ts';
import { withinDeadline } from '../../protocol/within-deadline.ts';
import type { SkillsSubsystem } from '../../skills/index.ts';
import type { CheckedRequest } from '../request/job-schema.ts';
import type { SkillSource } from '../request/skill-source.ts';
import { requestedSkills } from '../request/requested-skills.ts';
import type { SkillCodeJob, SkillCodeSource } from '../request/skill-code-source.ts';

/** Whether any of the skills brings code; those of a library may at any time. */
export function bringsCode(source: SkillSource | undefined): boolean {
  return source !== undefined && (source.subscribe !== undefined || source.known.skills.some(hasCode));
}

function hasCode({ fields: { toolsets, provider } }: Skill): boolean {
  return toolsets !== undefined || provider !== undefined;
}

/** The code of a job's skills; undefined where the job asks for no tools, or none of its skills brings any. */
export function skillCodeJob(
  jobId: string,
  request: CheckedRequest,
  subsystem: SkillsSubsystem | undefined,
): SkillCodeJob | undefined {
  if ((request.tools ?? []).length === 0 || subsystem === undefined) return undefined;
  const { consumer = DEFAULT_CONSUMER, includeInternal } = request.skills ?? {};
  const { skills: closure } = subsystem.importSkillset(requestedSkills(request), { consumer, includeInternal });
  const skills = closure.filter(hasCode);
  return skills.length === 0 ? undefined : { jobId, request, skills, readTree: (id) => subsystem.skillTree(id) };
}

/**
 * The tools of the host, and those of the code of a job's skills, which has as long to describe itself as the job has in all.
 *
 * @throws SkillcellError with a `skill-code.` code
 */
export async function withSkillTools(
  tools: readonly Tool[],
  job: SkillCodeJob | undefined,
  { skillCode, signal }: { skillCode?: SkillCodeSource | undefined; signal?: AbortSignal | undefined },
  jobTimeoutMs: number,
): Promise<readonly Tool[]> {
  if (job === undefined || skillCode === undefined) return tools;
  const brought = await withinDeadline(skillCode.tools(job, signal ?? new AbortController().signal), {
    limitMs: jobTimeoutMs,
    overdue(): never {
      const names = job.skills.map(({ id }) => id).join(', ');
      const message = `Cannot load the code of the job's skills: it did not load within jobTimeoutMs, ${jobTimeoutMs} ms, got ${names}.`;
      throw new SkillcellError('skill-code.load-failed', message);
    },
  });
  const own = new Set(tools.map(({ id }) => id));
  const twice = brought.find(({ id }) => own.has(id));
  if (twice === undefined) return [...tools, ...brought];
  const message = `Cannot accept the job: one of its skills has a tool with the name of one of the host, got ${twice.id}.`;
  throw new SkillcellError('skill-code.name-conflict', message);
}
