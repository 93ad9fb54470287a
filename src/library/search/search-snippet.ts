import type { Skill } from '../../contracts/skills/skill.ts';
import { placesOf } from '../../skills/parse/field-places.ts';
import { placeAt } from '../../skills/text/text-place.ts';
import { oneLine } from '../../skills/text/text.ts';
import { SEARCHED_FIELDS, searchedTexts, type SearchedField } from './searched-fields.ts';
import { wordsOf } from './search-words.ts';

/** Places of query words in a skill. */
export interface SearchMatch {
  field: SearchedField;
  /** As written there, each once. */
  words: string[];
}

/** The stretch of a skill with the largest total weight of query words. */
export interface SearchSnippet {
  field: SearchedField;
  /** One line without control and hidden characters; `…` marks a cut. */
  text: string;
  /** Line of SKILL.md, for a snippet of the body. */
  line?: number;
}

/** UTF-16 units of a snippet. */
const WIDTH = 160;
/** UTF-16 units before the first word of a snippet. */
const BEFORE = 30;

interface Place {
  word: string;
  start: number;
  end: number;
}

/**
 * Finds the query words in a skill.
 *
 * @param worth weight of each query word: rarer words weigh more
 */
export function explainHit(
  skill: Skill,
  worth: ReadonlyMap<string, number>,
): { matches: SearchMatch[]; snippet: SearchSnippet | null } {
  const texts = searchedTexts(skill);
  const matches: SearchMatch[] = [];
  let best: { field: SearchedField; window: Window } | undefined;
  for (const field of SEARCHED_FIELDS) {
    const text = texts[field];
    const places = [...wordsOf(text)].filter(({ word }) => worth.has(word));
    if (places.length === 0) continue;
    const written = new Map<string, string>();
    for (const { word, start, end } of places)
      if (!written.has(word)) written.set(word, oneLine(text.slice(start, end)));
    matches.push({ field, words: [...written.values()] });
    const window = bestWindow(places, worth);
    // Among equal windows, the id comes last: it is shown anyway.
    if (
      best === undefined ||
      window.worth > best.window.worth ||
      (best.field === 'id' && window.worth === best.window.worth)
    )
      best = { field, window };
  }
  return { matches, snippet: best === undefined ? null : snippetOf(skill, best.field, texts[best.field], best.window) };
}

interface Window {
  start: number;
  end: number;
  worth: number;
}

/** The window with the largest total weight; the first among equals. */
function bestWindow(places: readonly Place[], worth: ReadonlyMap<string, number>): Window {
  const counts = new Map<string, number>();
  let [first, sum] = [0, 0];
  let best: Window = { start: 0, end: 0, worth: -1 };
  for (const { word, end } of places) {
    if (counts.get(word) === undefined) sum += worth.get(word) ?? 0;
    counts.set(word, (counts.get(word) ?? 0) + 1);
    for (let place = places[first]; place !== undefined && end - place.start > WIDTH - BEFORE; place = places[first]) {
      if (place.end === end) break;
      first += 1;
      const left = (counts.get(place.word) ?? 1) - 1;
      if (left > 0) counts.set(place.word, left);
      else {
        counts.delete(place.word);
        sum -= worth.get(place.word) ?? 0;
      }
    }
    // Floating-point sums in another order differ in their last digits.
    if (sum > best.worth + 1e-9) best = { start: places[first]?.start ?? 0, end, worth: sum };
  }
  return best;
}

function snippetOf(skill: Skill, field: SearchedField, text: string, { start, end }: Window): SearchSnippet {
  const from = cutBefore(text, Math.max(0, start - BEFORE), start);
  const to = cutAfter(text, Math.max(end, Math.min(text.length, from + WIDTH)), end);
  const shown = oneLine(text.slice(from, to));
  const snippet = { field, text: `${from > 0 ? '…' : ''}${shown}${to < text.length ? '…' : ''}` };
  const bodyLine = placesOf(skill.fields)?.bodyLine;
  return field === 'body' && bodyLine !== undefined
    ? { ...snippet, line: bodyLine + placeAt(text, start).line - 1 }
    : snippet;
}

/** Moves the start to the beginning of a word, so that no word is cut. */
function cutBefore(text: string, from: number, start: number): number {
  if (from === 0) return 0;
  const blank = /\s/.exec(text.slice(from, start));
  return blank === null ? start : from + blank.index + 1;
}

function cutAfter(text: string, to: number, end: number): number {
  if (to >= text.length) return text.length;
  for (let at = to; at > end; at -= 1) if (/\s/.test(text.charAt(at))) return at;
  return end;
}
