import type { Skill } from '../../contracts/skills/skill.ts';
import type { Policy } from './policy.ts';
import { withoutRange } from '../text/bare-reference.ts';

/**
 * Finds every skill that a consumer may load, by itself or by an import.
 *
 * @param visible full ids that the consumer may ask for
 * @param byId every loaded skill
 * @param policy the consumer's policy; denied skills are not reached
 * @returns full ids
 */
export function reachableIds(
  visible: readonly string[],
  byId: ReadonlyMap<string, Skill>,
  policy: Policy,
): ReadonlySet<string> {
  const reached = new Set<string>(visible);
  for (const id of reached) {
    for (const written of byId.get(id)?.fields.imports ?? []) {
      const imported = withoutRange(written);
      if (byId.has(imported) && !policy.denies(imported)) reached.add(imported);
    }
  }
  return reached;
}
