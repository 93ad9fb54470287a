import type { TriggerSession } from '../../contracts/skills/matching.ts';
import { reasonForModels } from '../select/left-out.ts';
import { compareCodePoints } from '../text/text.ts';
import { matchSkills } from './triggers.ts';

/** Number of turns for which a skill stays active after the turn in which it matched. */
export const ACTIVE_TURNS = 5;

/**
 * Starts a session. A skill that matched in turn `t` stays active up to turn `t + 5`, unless it is released. A query
 * that asks for the list of skills activates none. A skill that the consumer may no longer see is not active.
 *
 * @returns the session, with no skill active
 * @example
 * ```ts
 * import { mkdirSync, writeFileSync } from 'node:fs';
 * import { createTriggerSession, loadSkillsSubsystem } from 'skillcell/skills';
 *
 * mkdirSync('skills/units', { recursive: true });
 * const triggers = 'triggers:\n  keywords: [unit conversion]\n';
 * writeFileSync('skills/units/SKILL.md', `---\nname: units\ndescription: Units.\n${triggers}---\nGive SI units.\n`);
 * const skills = loadSkillsSubsystem({ roots: [{ kind: 'user', path: 'skills' }] });
 * const session = createTriggerSession();
 * const { tier, active } = session.turn({ query: 'I need a unit conversion.', skills: skills.visible() });
 * console.log(tier, active);
 * // prints: 3 [ 'custom.units' ]
 * ```
 */
export function createTriggerSession(): TriggerSession {
  /** Turn of the last match by full id; the most recent match is last. */
  const matchedIn = new Map<string, number>();
  let now = 0;
  return {
    turn({ query, skills, release = [], max, named = [], hidden = [] }) {
      now += 1;
      for (const id of release) matchedIn.delete(id);
      const recent = [...matchedIn.keys()].toReversed();
      const result = matchSkills(query, skills, { recent, named, hidden, max });
      for (const { id } of result.matches.toReversed()) {
        matchedIn.delete(id);
        matchedIn.set(id, now);
      }
      const visible = new Set(skills.filter((skill) => reasonForModels(skill) === undefined).map(({ id }) => id));
      const active = [...matchedIn]
        .filter(([id, turn]) => now - turn <= ACTIVE_TURNS && visible.has(id))
        .map(([id]) => id);
      return { ...result, active: active.toSorted(compareCodePoints) };
    },
  };
}
