import type { Skill } from '../../contracts/skill.ts';
import { reasonForModels } from '../select/left-out.ts';
import { compareCodePoints } from '../text/text.ts';
import { matchSkills } from './triggers.ts';
import type { MatchResult } from './triggers.ts';

/** For how many turns after the one that matched it a skill stays active. */
export const ACTIVE_TURNS = 5;

/** What one turn brings. */
export interface TriggerTurn {
  query: string;
  /** The skills that the consumer may see in this turn. */
  skills: readonly Skill[];
  /** Full ids of skills to let go before the query is matched. */
  release?: readonly string[];
  /** The most skills that this query may bring in. @default 3 */
  max?: number;
  /** Full ids that the consumer's `enabled` names; see `SkillsSubsystem.enabledByName`. */
  named?: readonly string[];
}

/** What a turn leads to. */
export interface TriggerTurnResult extends MatchResult {
  /** Full ids of the active skills, sorted by code point. */
  active: string[];
}

/** Remembers over the turns of a conversation which skills are active. */
export interface TriggerSession {
  /**
   * Takes what the user wrote, and says which skills it brings in and which are active.
   *
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
   * const turn = (query: string) => session.turn({ query, skills: skills.visible() }).active;
   * console.log(turn('I need a unit conversion.'), turn('And now in inches.'));
   * // prints: [ 'custom.units' ] [ 'custom.units' ]
   * ```
   */
  turn(turn: TriggerTurn): TriggerTurnResult;
}

/**
 * Starts a session. A skill that matched in turn `t` is active up to turn `t + 5`, unless it is released; a query
 * that asks which skills there are activates nothing. A skill that the consumer may no longer see is not active.
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
    turn({ query, skills, release = [], max, named = [] }) {
      now += 1;
      for (const id of release) matchedIn.delete(id);
      const recent = [...matchedIn.keys()].toReversed();
      const result = matchSkills(query, skills, { recent, named, ...(max === undefined ? {} : { max }) });
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
