import type { Skill } from '../../contracts/skills/skill.ts';
import { listNames } from '../text/list-names.ts';
import { cutTo, oneLine } from '../text/text.ts';
import { refusalOf, type ResolveScope } from './resolve-references.ts';

const NAMED = 3;
const ID_CHARACTERS = 200;

/**
 * Says why a skill is not offered to a consumer, in catalogs and matches.
 *
 * @param skill a loaded skill
 * @param scope the consumer's policy, whether internal skills may be asked for, and the check for missing tools
 * @returns one line, or undefined when it is offered
 */
export function reasonLeftOut(
  skill: Skill,
  scope: Pick<ResolveScope, 'policy' | 'includeInternal' | 'lacks'>,
): string | undefined {
  return refusalOf(skill.id, scope) ?? reasonForModels(skill);
}

/**
 * Says why a skill is offered to no model, whatever the policy.
 *
 * @param skill a loaded skill
 * @returns one line, or undefined when it is offered
 */
export function reasonForModels({ fields }: Skill): string | undefined {
  return fields.disableModelInvocation === true ? 'models may not invoke it (disable-model-invocation)' : undefined;
}

/**
 * Says why a skill cannot be used: its `tools.yaml` requires tools that are not offered.
 *
 * @param skill a loaded skill; for undefined there is no reason
 * @param offered ids of the offered tools; undefined if they are unknown, and then there is no reason
 * @returns one line, or undefined when no required tool is missing
 */
export function reasonForTools(skill: Skill | undefined, offered: readonly string[] | undefined): string | undefined {
  if (skill === undefined || offered === undefined) return undefined;
  const required = skill.tools.filter((tool) => tool.required === true).map(({ id }) => id);
  const lacking = [...new Set(required)].filter((id) => !offered.includes(id));
  if (lacking.length === 0) return undefined;
  const names = listNames(lacking, NAMED, (id) => cutTo(oneLine(id), ID_CHARACTERS));
  return lacking.length === 1
    ? `needs the tool ${names}, which is not offered`
    : `needs the tools ${names}, which are not offered`;
}
