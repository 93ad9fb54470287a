import { SkillcellError } from '../../contracts/errors/skillcell-error.ts';
import type { Tool } from './tool.ts';
import { toolOrigin } from './tool-origin.ts';

/**
 * Refuses two tools with one id if at least one of them is foreign. Two tools of the caller are left to the check of the options.
 *
 * @param tools as they were given, before the check: it makes copies, which lose the origin
 * @throws SkillcellError `tool.name-conflict`, with both names
 */
export function refuseConflicts(tools: readonly unknown[], action: string): void {
  const seen = new Map<unknown, { name: string; isOurs: boolean }>();
  for (const [index, given] of tools.entries()) {
    if (typeof given !== 'object' || given === null) continue;
    const tool = given as Tool;
    const origin = toolOrigin(tool);
    const known = { name: origin ?? `tools.${index}`, isOurs: origin === undefined };
    const other = seen.get(tool.id);
    seen.set(tool.id, known);
    if (other === undefined || (other.isOurs && known.isOurs)) continue;
    const message = `Cannot ${action}: two tools have the id ${tool.id}: ${other.name} and ${known.name}.`;
    throw new SkillcellError('tool.name-conflict', message);
  }
}
