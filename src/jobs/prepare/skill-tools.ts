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

/** Whether any of the skills brings code. Always true for a library, whose skills may change. */
export function bringsCode(source: SkillSource | undefined): boolean {
  return source !== undefined && (source.subscribe !== undefined || source.known.skills.some(hasCode));
}

function hasCode({ fields: { toolsets, provider } }: Skill): boolean {
  return toolsets !== undefined || provider !== undefined;
}

/** The code of a job's skills; undefined if the job asks for no tools, or no skill brings code. */
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
 * Joins the tools of the host and the tools from the code of the job's skills.
 *
 * @param jobTimeoutMs deadline in milliseconds for the code to describe its tools
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
  const message = `Cannot accept the job: a tool of one of its skills has the name of a tool of the host, got ${twice.id}.`;
  throw new SkillcellError('skill-code.name-conflict', message);
}
