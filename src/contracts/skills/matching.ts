import type { Skill } from './skill.ts';

/** A skill that a query matched, and by what. */
export interface SkillMatch {
  /** Full id. */
  id: string;
  /** `mention:<id>`, `keyword:…`, `verb:…`, `pattern:…` as written, sorted by code point. */
  hits: string[];
}

/** A loaded skill that is not offered, and why. */
export interface LeftOut {
  /** Full id. */
  id: string;
  /** One line for people. */
  reason: string;
}

/** How much of the skills a query should disclose. */
export interface MatchResult {
  /** 0 nothing · 1 a breadcrumb · 2 the registry · 3 the matched skills in full. */
  tier: 0 | 1 | 2 | 3;
  /** What to show; absent for tier 3, whose text is that of the skills. */
  text?: string;
  /** Matched skills in rank order. */
  matches: SkillMatch[];
  /** Skills that the query would have matched, and why they stayed out. */
  leftOut: LeftOut[];
}

/** What one turn brings. */
export interface TriggerTurn {
  query: string;
  /** The skills that the consumer may see in this turn. */
  skills: readonly Skill[];
  /** Full ids of skills to let go before the query is matched. */
  release?: readonly string[];
  /** The most skills that this query may bring in. @default 3 */
  max?: number | undefined;
  /** Full ids that the consumer's `enabled` names; see `SkillsSubsystem.enabledByName`. */
  named?: readonly string[];
  /** Skills that the consumer may not see, each with the reason; one that the query matches is a row of `leftOut`. */
  hidden?: readonly { skill: Skill; reason: string }[];
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

/** Which skills a job's task brought in by their triggers. */
export interface JobMatch extends MatchResult {
  /** Full ids of skills that are active since an earlier job of the session, sorted by code point. */
  kept: string[];
}
