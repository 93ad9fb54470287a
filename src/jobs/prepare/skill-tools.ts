import type { DisclosureTools } from '../../tools/agent/disclosure-tools.ts';
import type { Tool } from '../../tools/define/tool.ts';
import { DEFAULT_CONSUMER } from '../../contracts/jobs/job.ts';
import type { Skill } from '../../contracts/skills/skill.ts';
import { SkillcellError } from '../../contracts/errors/skillcell-error.ts';
import { withinDeadline } from '../../protocol/within-deadline.ts';
import type { ConsumerOptions, SkillsSubsystem } from '../../skills/index.ts';
import type { CheckedRequest } from '../request/job-schema.ts';
import type { SkillSource } from '../request/skill-source.ts';
import { requestedSkills } from '../request/requested-skills.ts';
import { skillLines } from '../../skills/match/triggers.ts';
import type { SkillCodeJob, SkillCodeSource } from '../request/skill-code-source.ts';

/** The most skills in the list of loadable ones. */
const LISTED_SKILLS = 200;

/** Whether any of the skills brings code. Always true for a library, whose skills may change. */
export function bringsCode(source: SkillSource | undefined): boolean {
  return source !== undefined && (source.subscribe !== undefined || source.known.skills.some(hasCode));
}

/** Whether a skill brings code. */
export function hasCode({ fields: { toolsets, provider } }: Skill): boolean {
  return toolsets !== undefined || provider !== undefined;
}

/**
 * The tool `load_skill` of a job, as a list.
 *
 * @param others tools with other ids
 * @throws SkillcellError `tool.name-conflict`
 */
export function loadSkillTools(disclosure: DisclosureTools | undefined, others: readonly Tool[]): Tool[] {
  if (disclosure === undefined) return [];
  const { loadText } = disclosure;
  if (!others.some(({ id }) => id === loadText.id)) return [loadText];
  const message = `Cannot accept the job: another tool has the name of the tool that loads skills, got ${loadText.id}.`;
  throw new SkillcellError('tool.name-conflict', message);
}

/** The skills that a program may load by `load_skill`, one line each; undefined if there are none. */
export function loadableSkills(
  skills: SkillsSubsystem | undefined,
  active: readonly string[],
  options: ConsumerOptions,
): string | undefined {
  const ids = (skills?.catalog(options).ids ?? []).filter((id) => !active.includes(id));
  const listed = new Set(ids.slice(0, LISTED_SKILLS));
  if (skills === undefined || listed.size === 0) return undefined;
  const lines = skillLines(skills.skills.filter(({ id }) => listed.has(id)));
  return ids.length > listed.size ? `${lines}- and ${ids.length - listed.size} more\n` : lines;
}

/**
 * The code of a job's skills; undefined if the job asks for no tools, or no skill brings code.
 *
 * @param all whether the job has all tools of its skills, whatever it asks for
 */
export function skillCodeJob(
  jobId: string,
  request: CheckedRequest,
  subsystem: SkillsSubsystem | undefined,
  all: boolean,
): SkillCodeJob | undefined {
  if ((!all && (request.tools ?? []).length === 0) || subsystem === undefined) return undefined;
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
