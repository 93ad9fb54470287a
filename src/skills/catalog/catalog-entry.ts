import type { Skill } from '../../contracts/skills/skill.ts';
import { cutTo, oneLine } from '../text/text.ts';

/** The forms of a catalog. */
export type CatalogFormat = 'text' | 'xml' | 'markdown';

/** How much of a catalog fitted its budget. */
export type CatalogLevel = 'full' | 'descriptions' | 'brief' | 'ids' | 'omitted';

/** Order of the cuts: `all` cuts all entries alike; `entries` cuts one entry at a time, the last first. */
export type BudgetSteps = 'all' | 'entries';

/** One skill of a catalog with its number in the snapshot. */
export interface CatalogEntry {
  shortId: string;
  skill: Skill;
  /** The description on one line. */
  description: string;
}

/** How one format writes a catalog. Every text that it returns ends in a newline. */
export interface CatalogLayout {
  /** The catalog of no skills. */
  empty: string;
  /** Everything before and after the entries, when entries are written in full. */
  frame: { before: string; between: string; after: string };
  /** Everything before and after the entries, when only ids are written. */
  idFrame: { before: string; after: string };
  /** One entry in full, with this description. */
  entry(entry: CatalogEntry, description: string): string;
  /** One entry with its first sentence only. */
  briefEntry(entry: CatalogEntry): string;
  /** One entry of which only the id is left. */
  idEntry(entry: CatalogEntry): string;
  /** Text before the last line, when `kept` entries stand above it. */
  beforeNotice(kept: number): string;
  /** Layout of descriptions; it gives the size of a cut description without writing it. */
  description: { wrapWidth?: number; lineOverhead: number; escape?: (character: string) => string };
}

const BRIEF_LIMIT = 80;

/** The brief of an entry, on one line. */
export function entryBrief({ skill }: CatalogEntry): string {
  return cutTo(oneLine(skill.brief), BRIEF_LIMIT);
}

const tokens = new WeakMap<Skill, number>();

/**
 * Estimates how many tokens a skill's body takes: a quarter of its UTF-8 bytes, rounded up.
 *
 * @param skill a loaded skill
 * @returns a whole number
 */
export function bodyTokens(skill: Skill): number {
  let count = tokens.get(skill);
  if (count === undefined) {
    count = Math.ceil(Buffer.byteLength(skill.body.trim()) / 4);
    tokens.set(skill, count);
  }
  return count;
}

/** Estimates the tokens of a body that is not loaded yet, from its size in bytes. */
export function expectBody(skill: Skill, bytes: number): void {
  tokens.set(skill, Math.ceil(bytes / 4));
}

/**
 * Numbers the skills of a snapshot.
 *
 * @param ids full ids of the snapshot, in order
 * @param shown the skills that may be shown, by id; others keep their number and are left out
 * @returns the entries
 */
export function catalogEntries(ids: readonly string[], shown: ReadonlyMap<string, Skill>): CatalogEntry[] {
  return ids.flatMap((id, index) => {
    const skill = shown.get(id);
    if (skill === undefined) return [];
    return [{ shortId: `SK${index + 1}`, skill, description: oneLine(skill.fields.description ?? '') }];
  });
}
