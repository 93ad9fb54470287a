import { type Diagnostic, diagnostic } from '../../contracts/errors/diagnostic.ts';
import type { AgentsConfig } from '../../contracts/skills/skill.ts';
import { globMatch } from '../text/glob-match.ts';

/** The consumer whose `disabled` applies to every consumer. */
export const EVERY_CONSUMER = '*';

const WILDCARD = /[*?]/;

/** Skills that one consumer may see and load. It ignores namespaces: the caller decides about internal skills. */
export interface Policy {
  /** Whether `disabled` matches; it wins over everything, for requests and imports. */
  denies(id: string): boolean;
  /** Whether the consumer may ask for the skill: not denied, and matched by `enabled` where there is one. */
  allows(id: string): boolean;
  /** Whether `enabled` names the skill, by a pattern without wildcard. */
  names(id: string): boolean;
}

/**
 * The policy of one consumer: its own rule and the `disabled` of `"*"`.
 *
 * @param config `agents_config` of the descriptor
 * @param consumer id of the generator; without one only `"*"` applies
 * @returns tests on full ids
 */
export function policyFor(config: AgentsConfig, consumer: string | undefined): Policy {
  const own = consumer === undefined || consumer === EVERY_CONSUMER ? undefined : ruleOf(config, consumer);
  const denied = [...(ruleOf(config, EVERY_CONSUMER)?.disabled ?? []), ...(own?.disabled ?? [])].map(idTest);
  const enabled = own?.enabled?.map(idTest);
  const naming = (own?.enabled ?? []).filter((pattern) => !WILDCARD.test(pattern)).map(idTest);
  const denies = (id: string): boolean => denied.some((test) => test(id));
  return {
    denies,
    allows: (id) => !denies(id) && (enabled === undefined || enabled.some((test) => test(id))),
    names: (id) => naming.some((test) => test(id)),
  };
}

/**
 * Reports patterns that match no loaded skill, and an `enabled` that has no effect.
 *
 * @param config `agents_config` of the descriptor
 * @param ids full ids of every loaded skill
 * @returns one warning for each finding
 */
export function checkPolicy(config: AgentsConfig, ids: readonly string[]): Diagnostic[] {
  const found: Diagnostic[] = [];
  for (const consumer of Object.keys(config)) {
    const rule = ruleOf(config, consumer);
    if (consumer === EVERY_CONSUMER && rule?.enabled !== undefined) {
      found.push(diagnostic('policy.star-enabled', 'enabled under the consumer "*" has no effect; only disabled has.'));
    }
    for (const pattern of [...(rule?.enabled ?? []), ...(rule?.disabled ?? [])]) {
      if (ids.some(idTest(pattern))) continue;
      const message = `The pattern ${JSON.stringify(pattern)} of consumer ${JSON.stringify(consumer)} matches no skill.`;
      found.push(diagnostic('policy.pattern-unused', message));
    }
  }
  return found;
}

function ruleOf(config: AgentsConfig, consumer: string): AgentsConfig[string] | undefined {
  return Object.hasOwn(config, consumer) ? config[consumer] : undefined;
}

function idTest(pattern: string): (id: string) => boolean {
  // Ids are composed, so a decomposed pattern would silently deny nothing.
  const composed = pattern.normalize('NFC');
  if (!WILDCARD.test(composed)) {
    const full = composed.includes('.') ? composed : `public.${composed}`;
    return (id) => id === full;
  }
  const points = [...composed];
  return (id) => globMatch(points, [...id]);
}
