import * as z from 'zod/mini';
import { checkOptions } from '../../contracts/checks/check-options.ts';
import type { Diagnostic } from '../../contracts/errors/diagnostic.ts';
import type { Skill } from '../../contracts/skills/skill.ts';
import type { SkillsSubsystem } from '../../skills/subsystem.ts';
import type { ConsumerOptions } from '../../skills/subsystem-contract.ts';
import { defaultCacheFolder } from '../../durable/user-folders.ts';
import { askIndex } from './ask-index.ts';
import { openIndex } from './open-index.ts';
import { explainHit, type SearchMatch, type SearchSnippet } from './search-snippet.ts';
import { wordsOf } from './search-words.ts';

/**
 * English function words, which carry no topic. In short texts they are rare, so counts cannot reveal them: "how do I … the" would find the one
 * description with "how". Stemmed as {@link wordsOf} does.
 */
export const FUNCTION_WORDS: ReadonlySet<string> = new Set(
  (
    'a about after all also am an and ani ar as at be becaus been befor but by can could d did do doe don down each for from get give had ' +
    'ha have he her here him hi how i if in into is it just ll m mai me might more most must my need no nor not of off on onc onli or other our ' +
    'out over own pleas re s same she should so some such t than that the their them then there these thei thi those through to too under up us ' +
    'veri wa want we were what when where which while who whom why will with would you your'
  ).split(' '),
);

/** Options of a search. */
export interface SearchSkillsOptions extends ConsumerOptions {
  /** Limit of named skills, 1 to 1,000. @default 10 */
  max?: number | undefined;
  /** Cache folder for indexes. @default $XDG_CACHE_HOME/skillcell, else ~/.cache/skillcell */
  cacheFolder?: string | undefined;
  signal?: AbortSignal | undefined;
}

/** A skill that was found. */
export interface SkillHit {
  /** Full id. */
  id: string;
  name: string;
  brief: string;
  /** BM25 over all fields; larger is better, comparable only within one answer. */
  score: number;
  /** The words found in each field. */
  matches: SearchMatch[];
  snippet: SearchSnippet | null;
}

/** Result of a search. */
export interface SkillSearch {
  /** Best first; ties by id. */
  hits: SkillHit[];
  /** Number of skills that contain a used word. */
  found: number;
  /** Number of searched skills: the consumer's catalog. */
  searched: number;
  /** Used words, as the index has them, with the number of skills for each; the rarest first. */
  words: { word: string; skills: number }[];
  /** Number of unused words: no skill contains them, rarer words were enough, or they are function words. */
  ignored: number;
  diagnostics: Diagnostic[];
}

/** UTF-16 units of a text. */
const MOST_TEXT = 1_000_000;
const DEFAULT_MAX = 10;

const optionsSchema = z.strictObject({
  consumer: z.optional(z.string()),
  includeInternal: z.optional(z.boolean()),
  tools: z.optional(z.array(z.string())),
  max: z.optional(z.number().check(z.int(), z.minimum(1), z.maximum(1_000))),
  cacheFolder: z.optional(z.string().check(z.minLength(1))),
  signal: z.optional(z.instanceof(AbortSignal)),
});
const textSchema = z.string().check(z.maxLength(MOST_TEXT));

/**
 * Finds skills by words: in ids, names, descriptions, `when_to_use`, headings and bodies, ranked by BM25. It searches only the consumer's catalog;
 * hidden skills do not even affect scores. The text is plain words, without any syntax.
 *
 * @param skills the skills to search
 * @param text the query, at most 1,000,000 UTF-16 units
 * @param options consumer, limits and cache
 * @returns the best skills, and the reason for each
 * @throws SkillcellError `options.invalid`; `search.unavailable` where this Node has no FTS5
 * @example
 * ```ts
 * import { mkdirSync, writeFileSync } from 'node:fs';
 * import { searchSkills } from 'skillcell';
 * import { loadSkillsSubsystem } from 'skillcell/skills';
 *
 * mkdirSync('skills/units', { recursive: true });
 * writeFileSync('skills/units/SKILL.md', '---\nname: units\ndescription: Units in reports.\n---\nGive SI units.\n');
 * const skills = loadSkillsSubsystem({ roots: [{ kind: 'user', path: 'skills' }] });
 * const { hits } = await searchSkills(skills, 'which unit does a report need?', { cacheFolder: 'cache' });
 * for (const { id, matches } of hits) console.log(id, matches.map(({ field }) => field).join(' '));
 * // prints: custom.units id description body
 * ```
 */
export async function searchSkills(
  skills: SkillsSubsystem,
  text: string,
  options: SearchSkillsOptions = {},
): Promise<SkillSearch> {
  checkOptions(optionsSchema, options, { action: 'search skills' });
  checkOptions(textSchema, text, { action: 'search skills', whole: 'the text' });
  const { max = DEFAULT_MAX, cacheFolder = defaultCacheFolder(), signal, ...who } = options;
  const offered = offeredSkills(skills, who);
  const words = new Set<string>();
  for (const { word } of wordsOf(text)) words.add(word);
  const telling = new Set([...words].filter((word) => !FUNCTION_WORDS.has(word)));
  const { database, diagnostics } = await openIndex(offered, cacheFolder, signal);
  const answer = askIndex(database, telling.size > 0 ? telling : words, { skills: offered.length, most: max });
  const worth = new Map(answer.words.map((asked) => [asked.word, asked.worth]));
  const hits = answer.rows.flatMap(({ row, score }): SkillHit[] => {
    const skill = offered[row];
    if (skill === undefined) return [];
    const { id, name, brief } = skill;
    return [{ id, name, brief, score: Number(score.toPrecision(4)), ...explainHit(skill, worth) }];
  });
  const counted = answer.words.map(({ word, skills: holding }) => ({ word, skills: holding }));
  const ignored = words.size - counted.length;
  return { hits, found: answer.found, searched: offered.length, words: counted, ignored, diagnostics };
}

/** Offered skills of each consumer, by subsystem; a subsystem never changes. */
const offers = new WeakMap<SkillsSubsystem, Map<string, Skill[]>>();
const KEPT_OFFERS = 32;

function offeredSkills(skills: SkillsSubsystem, who: ConsumerOptions): Skill[] {
  const key = JSON.stringify([who.consumer ?? null, who.includeInternal ?? false, who.tools?.toSorted() ?? null]);
  let known = offers.get(skills);
  if (known === undefined) offers.set(skills, (known = new Map()));
  let offered = known.get(key);
  if (offered === undefined) {
    const ids = new Set(skills.catalog(who).ids);
    offered = skills.skills.filter(({ id }) => ids.has(id));
    if (known.size >= KEPT_OFFERS) known.clear();
    known.set(key, offered);
  }
  return offered;
}
