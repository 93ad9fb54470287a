import { createLimiter } from '../../protocol/limiter.ts';
import type { BringTools } from '../../tools/agent/disclosure-tools.ts';
import { offerTool, type OfferedTool } from '../../tools/define/offered-tool.ts';
import { ToolError } from '../../tools/define/tool-errors.ts';
import { DEFAULT_CONSUMER } from '../../contracts/jobs/job.ts';
import { SkillcellError } from '../../contracts/errors/skillcell-error.ts';
import type { SkillCodeJob, SkillCodeSource } from '../request/skill-code-source.ts';
import { hasCode } from './skill-tools.ts';

/**
 * Gives a job the tools of skills that it loads while it runs, with the skills that these import. A program calls tools by name and the
 * host looks them up, so that the sandbox need not learn of them.
 *
 * @param job its skills are those whose tools it has from the start
 * @param tools tools of the job; the new ones are added
 * @param taken ids of all tools of the host, also of those that the job does not have
 */
export function laterTools(
  job: SkillCodeJob,
  source: SkillCodeSource,
  { tools, taken }: { tools: Map<string, OfferedTool>; taken: readonly string[] },
): BringTools {
  const { consumer = DEFAULT_CONSUMER, includeInternal } = job.request.skills ?? {};
  const known = new Set(job.skills.map(({ id }) => id));
  // Calls at the same time may load skills with the same imports: the second finds what the first has added.
  const oneAtATime = createLimiter({ room: 1 });
  const bring: BringTools = async (skills, ids, signal = new AbortController().signal) => {
    const { skills: closure } = skills.importSkillset(ids, { consumer, includeInternal });
    const added = closure.filter((skill) => hasCode(skill) && !known.has(skill.id));
    if (added.length === 0) return [];
    const readTree: SkillCodeJob['readTree'] = (id) => skills.skillTree(id);
    const offered = await source
      .tools({ ...job, skills: added, readTree }, signal)
      .then((made) => Promise.all(made.map(offerTool)))
      .catch((cause: unknown) => {
        throw SkillcellError.isInstance(cause) ? new ToolError(cause.message, { cause }) : cause;
      });
    const twice = offered.find(({ tool: { id } }) => tools.has(id) || taken.includes(id));
    if (twice !== undefined) {
      throw new ToolError(`Cannot load ${ids.join(', ')}: another tool has the name of its tool ${twice.tool.id}.`);
    }
    for (const each of offered) tools.set(each.tool.id, each);
    for (const { id } of added) known.add(id);
    return offered.map(({ tool: { id } }) => id);
  };
  return (...call) => oneAtATime.run(() => bring(...call));
}
