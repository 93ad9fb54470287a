import { offerTool, type OfferedTool } from '../../tools/define/offered-tool.ts';
import type { Tool } from '../../tools/define/tool.ts';
import { selectTools } from '../../tools/define/tool-selection.ts';
import { diagnostic, type Diagnostic } from '../../contracts/errors/diagnostic.ts';
import { invalid } from '../request/job-schema.ts';

/**
 * The tools that a job asks for, by id.
 *
 * @param openEnded whether a pattern may match no tool yet: it may match tools of a skill that is chosen later
 *
 * @throws SkillcellError `job.invalid` for a pattern that matches no tool, `tool.schema-unsupported`
 */
export async function prepareTools(
  patterns: readonly string[],
  all: readonly Tool[],
  openEnded = false,
): Promise<Map<string, OfferedTool>> {
  const { tools, unknown } = selectTools(all, patterns);
  if (unknown !== undefined && !openEnded) {
    const { pattern, near } = unknown;
    const advice = near === undefined ? '' : `; did you mean ${near}?`;
    throw invalid(`tools must name tools that the orchestrator has, got ${JSON.stringify(pattern)}${advice}`);
  }
  return new Map(await Promise.all(tools.map(async (tool) => [tool.id, await offerTool(tool)] as const)));
}

/** Reports a pattern of an open-ended list without a tool: the skill with such a tool may not have been chosen. */
export function unknownTools(patterns: readonly string[], tools: ReadonlyMap<string, OfferedTool>): Diagnostic[] {
  const offered = Array.from(tools.values(), ({ tool }) => tool);
  const { unknown } = selectTools(offered, patterns);
  if (unknown === undefined) return [];
  const message = `Neither the host nor a skill of the job has a tool ${JSON.stringify(unknown.pattern)}.`;
  return [diagnostic('decision.tool-unknown', message)];
}
