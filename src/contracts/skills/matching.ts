import type { Skill } from './skill.ts';

/** A skill that matches a query, and the hits. */
export interface SkillMatch {
  /** Full id. */
  id: string;
  /** `mention:<id>`, `keyword:…`, `verb:…`, `pattern:…` as written, sorted by code point. */
  hits: string[];
}

/** A loaded skill that is not offered, and the reason. */
export interface LeftOut {
  /** Full id. */
  id: string;
  /** One line for people. */
  reason: string;
}

/** The amount of skill text that a query should disclose. */
export interface MatchResult {
  /** 0 nothing · 1 a breadcrumb · 2 the registry · 3 the matched skills in full. */
  tier: 0 | 1 | 2 | 3;
  /** The text to show; absent for tier 3, which shows the text of the skills. */
  text?: string;
  /** Matched skills in rank order. */
  matches: SkillMatch[];
  /** Skills that the query matches but that are left out, and the reason. */
  leftOut: LeftOut[];
}

/** Input of one turn. */
export interface TriggerTurn {
  query: string;
  /** The skills that the consumer may see in this turn. */
  skills: readonly Skill[];
  /** Full ids of skills to deactivate before the query is matched. */
  release?: readonly string[];
  /** Most skills that this query may activate. @default 3 */
  max?: number | undefined;
  /** Full ids in the consumer's `enabled`; see `SkillsSubsystem.enabledByName`. */
  named?: readonly string[];
  /** Skills that the consumer may not see, each with the reason; a match becomes a row of `leftOut`. */
  hidden?: readonly { skill: Skill; reason: string }[];
}

/** Result of one turn. */
export interface TriggerTurnResult extends MatchResult {
  /** Full ids of the active skills, sorted by code point. */
  active: string[];
}

/** Keeps the active skills over the turns of a conversation. */
export interface TriggerSession {
  /**
   * Matches the text of the user, and returns the matched and the active skills.
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

/** Skills whose triggers match the task of a job. */
export interface JobMatch extends MatchResult {
  /** Full ids of skills that an earlier job of the session activated, sorted by code point. */
  kept: string[];
}
