import type { LeftOut, MatchResult, SkillMatch } from '../../contracts/skills/matching.ts';
import type { Skill } from '../../contracts/skills/skill.ts';
import { reasonForModels } from '../select/left-out.ts';
import { asksForSkills } from './asks-for-skills.ts';
import { foldCase, foldText } from '../text/words/fold-text.ts';
import { foldForMention, isMentioned } from './mentions.ts';
import { compareCodePoints, cutTo, oneLine } from '../text/text.ts';
import { isMet } from '../parse/needed-words.ts';
import { holdsWord, searchedText, type SearchedText, soughtWord, type SoughtWord } from '../text/words/sought-word.ts';
import { compilePatterns } from '../parse/trigger-patterns.ts';
import { hasWord } from '../text/words/whole-word.ts';

/** The most matches for one query, by default. */
export const DEFAULT_MAX_MATCHES = 3;
const BRIEF_LIMIT = 80;

/** Options of {@link matchSkills}. */
export interface MatchOptions {
  /** The most skills to name. @default 3 */
  max?: number | undefined;
  /** Full ids of skills used before, the most recent first. */
  recent?: readonly string[] | undefined;
  /** Full ids that the consumer's `enabled` names. These skills match despite `default_enabled: false`. */
  named?: readonly string[];
  /** Skills that the consumer may not see, each with the reason. */
  hidden?: readonly { skill: Skill; reason: string }[];
}

/**
 * Chooses skills for a query by their triggers.
 *
 * @param query text of the user
 * @param skills the skills that the consumer may see
 * @param options limit, and skills used before
 * @returns tier, text and matches
 */
export function matchSkills(query: string, skills: readonly Skill[], options: MatchOptions = {}): MatchResult {
  const { offered, matching, reasons } = sortOut(skills, options);
  const read = readQuery(query);
  const unseen = findMatches(read, [...reasons.keys()]).map(({ id }) => id);
  const leftOut = leftOutRows(unseen, reasons);
  const result = { matches: [], leftOut };
  if (offered.length === 0) return { ...result, tier: 0, text: '' };
  if (asksForSkills(query)) return { ...result, tier: 2, text: skillLines(offered) };
  const { max = DEFAULT_MAX_MATCHES, recent = [] } = options;
  const matches = rank(findMatches(read, matching), recent);
  const surplus = matches.slice(max).map(({ id }) => ({ id, reason: `max_skills: ${max}` }));
  if (matches.length > 0) return { tier: 3, matches: matches.slice(0, max), leftOut: sorted([...leftOut, ...surplus]) };
  if (offered.every(({ fields }) => fields.triggers === undefined))
    return { ...result, tier: 2, text: skillLines(offered) };
  return { ...result, tier: 1, text: `[${offered.length} skills available]\n` };
}

/** Splits skills into those offered to models and those that may match, with the reasons for the others. */
function sortOut(
  skills: readonly Skill[],
  { named = [], hidden = [] }: MatchOptions,
): { offered: Skill[]; matching: Skill[]; reasons: ReadonlyMap<Skill, string> } {
  const reasons = new Map(hidden.map(({ skill, reason }) => [skill, reason]));
  const offered: Skill[] = [];
  const matching: Skill[] = [];
  for (const skill of skills) {
    const forbidden = reasonForModels(skill);
    if (forbidden !== undefined) {
      reasons.set(skill, forbidden);
      continue;
    }
    offered.push(skill);
    if (skill.fields.defaultEnabled === false && !named.includes(skill.id))
      reasons.set(skill, 'default_enabled: false');
    else matching.push(skill);
  }
  return { offered, matching, reasons };
}

function leftOutRows(ids: readonly string[], reasons: ReadonlyMap<Skill, string>): LeftOut[] {
  return sorted([...reasons].filter(([{ id }]) => ids.includes(id)).map(([{ id }, reason]) => ({ id, reason })));
}

function sorted(rows: readonly LeftOut[]): LeftOut[] {
  return rows.toSorted((a, b) => compareCodePoints(a.id, b.id));
}

/** Skills as a list for models: one line a skill, sorted by full id. */
export function skillLines(skills: readonly Skill[]): string {
  return skills
    .toSorted((a, b) => compareCodePoints(a.id, b.id))
    .map(({ id, brief }) => `- **${id}**: ${cutTo(oneLine(brief), BRIEF_LIMIT)}\n`)
    .join('');
}

interface Candidate extends SkillMatch {
  mentioned: boolean;
  phrase: boolean;
  /** Number of triggers that matched, without the mention. */
  triggers: number;
}

/** A query in all forms that triggers are searched in. */
interface ReadQuery {
  query: string;
  /** For keywords and verbs. */
  folded: SearchedText;
  forMention: SearchedText;
  forPatterns: SearchedText;
}

function readQuery(query: string): ReadQuery {
  return {
    query,
    folded: searchedText(foldText(query)),
    forMention: searchedText(foldForMention(query)),
    forPatterns: searchedText(foldCase(query)),
  };
}

function findMatches({ query, folded, forMention, forPatterns }: ReadQuery, skills: readonly Skill[]): Candidate[] {
  const candidates: Candidate[] = [];
  for (const skill of skills) {
    const { names, keywords, verbs } = prepare(skill);
    const hits = new Set<string>();
    let phrase = false;
    for (const { written, word } of keywords) {
      if (!holdsWord(folded, word) || !hasWord(folded.text, word.text)) continue;
      hits.add(`keyword:${written}`);
      phrase ||= word.text.includes(' ');
    }
    for (const { written, stem, forms } of verbs)
      if (holdsWord(folded, stem) && forms.some((form) => hasWord(folded.text, form))) hits.add(`verb:${written}`);
    const patterns = skill.fields.triggers?.patterns;
    if (patterns !== undefined) {
      for (const { source, need, test } of compilePatterns(patterns).patterns)
        if ((need === undefined || isMet(need, forPatterns)) && test(query)) hits.add(`pattern:${source}`);
    }
    const triggers = hits.size;
    const mentioned = names.some((name) => holdsWord(forMention, name) && isMentioned(forMention.text, name.text));
    if (mentioned) hits.add(`mention:${skill.id}`);
    if (hits.size === 0) continue;
    candidates.push({ id: skill.id, hits: [...hits].toSorted(compareCodePoints), mentioned, phrase, triggers });
  }
  return candidates;
}

/** By mention, then phrase, then number of triggers, then recent use, then full id. */
function rank(candidates: Candidate[], recent: readonly string[]): SkillMatch[] {
  const used = (id: string): number => {
    const at = recent.indexOf(id);
    return at < 0 ? recent.length : at;
  };
  return candidates
    .toSorted(
      (a, b) =>
        Number(b.mentioned) - Number(a.mentioned) ||
        Number(b.phrase) - Number(a.phrase) ||
        b.triggers - a.triggers ||
        used(a.id) - used(b.id) ||
        compareCodePoints(a.id, b.id),
    )
    .map(({ id, hits }) => ({ id, hits }));
}

interface PreparedSkill {
  names: SoughtWord[];
  keywords: { written: string; word: SoughtWord }[];
  verbs: { written: string; stem: SoughtWord; forms: string[] }[];
}

/** Folded words of a skill. Skills never change after loading. */
const prepared = new WeakMap<Skill, PreparedSkill>();

function prepare(skill: Skill): PreparedSkill {
  const known = prepared.get(skill);
  if (known !== undefined) return known;
  const { triggers, name = '' } = skill.fields;
  const names = [skill.skillId, skill.id, name, skill.name].map((text) => foldForMention(oneLine(text)));
  const made: PreparedSkill = {
    names: [...new Set(names)].filter((text) => text !== '').map(soughtWord),
    keywords: (triggers?.keywords ?? []).map((written) => ({ written, word: soughtWord(foldText(written)) })),
    verbs: (triggers?.verbs ?? []).map((written) => {
      const forms = verbForms(foldText(written));
      return { written, stem: soughtWord(commonBeginning(forms)), forms };
    }),
  };
  prepared.set(skill, made);
  return made;
}

function commonBeginning([first = '', ...others]: readonly string[]): string {
  let length = first.length;
  while (others.some((text) => !text.startsWith(first.slice(0, length)))) length -= 1;
  return first.slice(0, length);
}

/**
 * Lists the regular English forms of a verb: the verb itself, -s, -es, -ed, -ing; silent e; consonant and y; doubled
 * last consonant.
 *
 * @param verb folded verb
 * @returns its forms; some are not words, which does no harm
 */
export function verbForms(verb: string): string[] {
  const forms = [verb, `${verb}s`, `${verb}es`, `${verb}ed`, `${verb}ing`];
  const stem = verb.slice(0, -1);
  const last = verb.slice(-1);
  if (last === 'e') forms.push(`${verb}d`, `${stem}ing`);
  if (/[b-df-hj-np-tv-z]y$/.test(verb)) forms.push(`${stem}ies`, `${stem}ied`);
  if (/[b-df-hj-np-tv-z]$/.test(verb)) forms.push(`${verb}${last}ed`, `${verb}${last}ing`);
  return forms;
}
