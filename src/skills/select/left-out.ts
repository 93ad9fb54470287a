import type { Skill } from '../../contracts/skill.ts';
import { refusalOf, type ResolveScope } from './resolve-references.ts';

/** A loaded skill that is not offered, and why. */
export interface LeftOut {
  /** Full id. */
  id: string;
  /** One line for people. */
  reason: string;
}

/**
 * Says why a skill is not offered to a consumer, in catalogs and matches.
 *
 * @param skill a loaded skill
 * @param scope the consumer's policy, and whether internal skills may be asked for
 * @returns one line, or undefined when it is offered
 */
export function reasonLeftOut(
  skill: Skill,
  scope: Pick<ResolveScope, 'policy' | 'includeInternal'>,
): string | undefined {
  return refusalOf(skill.id, scope) ?? reasonForModels(skill);
}

/**
 * Says why a skill is offered to no model; the policy is not asked.
 *
 * @param skill a loaded skill
 * @returns one line, or undefined when it is offered
 */
export function reasonForModels({ fields }: Skill): string | undefined {
  return fields.disableModelInvocation === true ? 'models may not invoke it (disable-model-invocation)' : undefined;
}
