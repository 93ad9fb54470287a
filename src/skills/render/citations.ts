import { type Diagnostic, diagnostic } from '../../contracts/errors/diagnostic.ts';
import type { SourceRow } from '../../contracts/skills/skill.ts';
import { movedDown, placeFinder } from '../text/text-place.ts';
import { CITATION_TOKEN, parseCitation, RANGE_LIMIT } from './citation-token.ts';
import { codeRanges } from './code-ranges.ts';
import { createSourcesPool } from './sources-pool.ts';

export { createSourcesPool } from './sources-pool.ts';

/** A text whose citations are rewritten, with the sources that they cite. */
export interface CitingSkill {
  /** Full id. */
  id: string;
  sources: readonly SourceRow[];
  text: string;
  /** Where the text begins, for the diagnostics. */
  from?: { path: string; line: number };
}

/** Input of {@link rewriteCitations}. */
export interface CitationsRequest {
  /** The pool of the turn so far. */
  pool: readonly SourceRow[];
  /** Skills in render order. */
  skills: readonly CitingSkill[];
}

/** Texts that cite the pool. */
export interface CitationsResult {
  /** Texts by full id. */
  texts: Record<string, string>;
  /** The pool after the merge, sorted by sid. */
  pool: SourceRow[];
  /** For each skill, its own sids and those of the pool. */
  map: Record<string, Record<string, number>>;
  diagnostics: Diagnostic[];
}

/**
 * Merges the sources of skills into the pool of the turn and rewrites `[[S:…]]` in their texts to the sids of the
 * pool. A token that cites nothing of its skill is removed; code stays as it is.
 *
 * @param request pool and skills; neither is changed
 * @returns new texts, the new pool, and diagnostics for dropped citations
 */
export function rewriteCitations(request: CitationsRequest): CitationsResult {
  const pool = createSourcesPool(request.pool);
  const result: CitationsResult = { texts: {}, pool: [], map: {}, diagnostics: [] };
  for (const { id, sources, text, from } of request.skills) {
    const map = pool.merge(sources);
    result.map[id] = Object.fromEntries(map);
    let searched = { text, find: placeFinder(text) };
    result.texts[id] = rewriteText(text, map, (code, message, token) => {
      if (searched.text !== token.input) searched = { text: token.input, find: placeFinder(token.input) };
      const place = searched.find(token.index);
      const inFile = from === undefined ? {} : { path: from.path, ...movedDown(place, from.line - 1) };
      result.diagnostics.push(diagnostic(code, `${message}, in ${id}.`, inFile));
    });
  }
  result.pool = pool.rows();
  return result;
}

type Report = (
  code: 'citation.unmapped' | 'citation.invalid' | 'citation.range',
  message: string,
  token: RegExpExecArray,
) => void;

/** Most rounds of removal: removing one token may join the two halves of another. */
const REMOVAL_ROUNDS = 8;

/**
 * Rewrites the tokens of one text. First it removes the tokens that cite nothing, round by round, because a removal may
 * join two halves into a token that was never checked. Then it maps the remaining tokens in one pass.
 */
function rewriteText(text: string, map: ReadonlyMap<number, number>, report: Report): string {
  if (!text.includes('[[')) return text;
  const own = [...map.keys()].toSorted((a, b) => a - b);
  const cite = (token: RegExpExecArray, to: Report): number[] => citedSids(token, map, own, to);
  const dropped = (token: RegExpExecArray): string => {
    cite(token, report);
    return '';
  };
  let current = text;
  for (let round = 0; round < REMOVAL_ROUNDS; round += 1) {
    const next = replaceTokens(current, (token) => (cite(token, SILENT).length > 0 ? token[0] : dropped(token)));
    if (next === current) break;
    current = next;
  }
  return replaceTokens(current, (token) => {
    const cited = cite(token, report);
    // Only a token nested deeper than REMOVAL_ROUNDS still has no ids here; its brackets are broken up.
    return cited.length > 0 ? `[[S:${cited.join(',')}]]` : `[ ${token[0].slice(1)}`;
  });
}

const SILENT: Report = () => undefined;

/** Replaces the tokens outside of code. An empty replacement also removes one blank before the token. */
function replaceTokens(text: string, replace: (token: RegExpExecArray) => string): string {
  const code = codeRanges(text);
  let out = '';
  let done = 0;
  let range = 0;
  for (const token of text.matchAll(CITATION_TOKEN)) {
    while ((code[range]?.end ?? Infinity) <= token.index) range += 1;
    if ((code[range]?.start ?? Infinity) <= token.index) continue;
    out += text.slice(done, token.index);
    done = token.index + token[0].length;
    const replacement = replace(token);
    out += replacement;
    if (replacement === '' && (out.endsWith(' ') || out.endsWith('\t'))) out = out.slice(0, -1);
  }
  return out + text.slice(done);
}

/** Lists the pool's sids that a token cites, in order of appearance, each once. */
function citedSids(
  token: RegExpExecArray,
  map: ReadonlyMap<number, number>,
  own: readonly number[],
  report: Report,
): number[] {
  const shown = JSON.stringify(token[0].slice(0, 80));
  const { ranges, invalid, tooLong } = parseCitation(token[1] ?? '');
  if (tooLong) {
    report('citation.range', `A range holds more than ${RANGE_LIMIT} ids, the token was removed: ${shown}`, token);
    return [];
  }
  if (invalid.length > 0)
    report('citation.invalid', `Parts that are neither a number nor a range were dropped: ${shown}`, token);
  const cited = new Set<number>();
  let unmapped = false;
  for (const { low, high } of ranges) {
    let known = 0;
    for (let at = firstFrom(own, low); at < own.length && BigInt(own[at] ?? 0) <= high; at += 1) {
      cited.add(map.get(own[at] ?? 0) ?? 0);
      known += 1;
    }
    unmapped ||= high - low >= known;
  }
  if (unmapped) report('citation.unmapped', `Ids that the skill's sources don't have were dropped: ${shown}`, token);
  return [...cited];
}

/** Binary search for the first own sid that is at least `low`. */
function firstFrom(own: readonly number[], low: bigint): number {
  let from = 0;
  let to = own.length;
  while (from < to) {
    const middle = (from + to) >> 1;
    if (BigInt(own[middle] ?? 0) < low) from = middle + 1;
    else to = middle;
  }
  return from;
}
