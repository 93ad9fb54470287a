import type { ConsumerOptions, SkillsSubsystem } from '../../skills/index.ts';
import { bareReference } from '../../skills/text/bare-reference.ts';

/**
 * Finds the skill that a model means. Models see names beside ids, and often use the name. A reference that loads a skill
 * means that skill; otherwise the name, or the id without its namespace, must match exactly one skill that the consumer may see.
 *
 * @param ref as the model wrote it
 * @param skills the available skills
 * @param who the consumer and its rights
 * @returns the full id, or the reference as it is
 */
export function shownSkillId(ref: string, skills: SkillsSubsystem, who: ConsumerOptions): string {
  const [row] = skills.resolve([ref], who).rows;
  if (row?.status === 'loaded' || row?.status === 'duplicate') return row.id ?? ref;
  const bare = bareReference(ref);
  const named = skills.visible(who).filter(({ skillId, name }) => skillId === bare || name.normalize('NFKC') === bare);
  return named.length === 1 ? (named[0]?.id ?? ref) : ref;
}
