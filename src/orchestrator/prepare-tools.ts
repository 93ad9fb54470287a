import { offerTool, type OfferedTool } from '../broker/offered-tool.ts';
import type { Tool } from '../broker/tool.ts';
import { selectTools } from '../broker/tool-selection.ts';
import { invalid } from './job-schema.ts';

/**
 * The tools that a job asks for, by id.
 *
 * @param openEnded whether a pattern may name none yet: it may stand for tools of a skill that is chosen later
 *
 * @throws SkillcellError `job.invalid` for a pattern that names none, `tool.schema-unsupported`
 */
export async function prepareTools(
  patterns: readonly string[],
  all: readonly Tool[],
  openEnded = false,
): Promise<ReadonlyMap<string, OfferedTool>> {
  const { tools, unknown } = selectTools(all, patterns);
  if (unknown !== undefined && !openEnded) {
    const { pattern, near } = unknown;
    const advice = near === undefined ? '' : `; did you mean ${near}?`;
    throw invalid(`tools must name tools that the orchestrator has, got ${JSON.stringify(pattern)}${advice}`);
  }
  return new Map(await Promise.all(tools.map(async (tool) => [tool.id, await offerTool(tool)] as const)));
}
