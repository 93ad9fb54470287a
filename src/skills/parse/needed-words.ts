import type { RE2Set } from 're2js';
import { foldCase } from '../text/words/fold-text.ts';
import { holdsWord, soughtWord, type SearchedText, type SoughtWord } from '../text/words/sought-word.ts';

/** Condition that a text must meet for a pattern to match: it holds a word, all of some words, or one of some. Case is folded. */
export type Need = SoughtWord | { all: readonly Need[] } | { any: readonly Need[] };

/** A node of a pattern as re2js reads it; its classes are not exported. */
interface PatternNode {
  op: number;
  runes: Int32Array;
  subs: readonly PatternNode[];
  constructor: { Op: Readonly<Record<string, number>> };
}

/** The most words of a sequence that are checked; further words rule out few texts. */
const MOST_WORDS = 4;
const HALF_PAIR = /\p{Surrogate}/u;

/**
 * Finds the words that every match of a pattern holds. Case is ignored: the words are folded, and the text must be folded too.
 *
 * @param set a set that the pattern was added to, and no other
 * @returns the need; undefined when no word is certain
 */
export function neededWords(set: RE2Set): Need | undefined {
  const [root] = set.regexps as PatternNode[];
  return root === undefined ? undefined : needOf(root, root.constructor.Op);
}

/**
 * Tells whether a text meets the need of a pattern. If not, the pattern cannot match it.
 *
 * @param need result of {@link neededWords}
 * @param folded the text, by `foldCase`
 */
export function isMet(need: Need, folded: SearchedText): boolean {
  if ('all' in need) return need.all.every((part) => isMet(part, folded));
  if ('any' in need) return need.any.some((part) => isMet(part, folded));
  return holdsWord(folded, need);
}

function needOf(node: PatternNode, op: PatternNode['constructor']['Op']): Need | undefined {
  const [first] = node.subs;
  switch (node.op) {
    case op['LITERAL']:
      return wordOf(node.runes);
    case op['CAPTURE']:
    case op['PLUS']:
      return first === undefined ? undefined : needOf(first, op);
    case op['CONCAT']:
      return allOf(node.subs.map((sub) => needOf(sub, op)));
    case op['ALTERNATE']:
      return anyOf(node.subs.map((sub) => needOf(sub, op)));
    default:
      return undefined;
  }
}

function wordOf(runes: Int32Array): Need | undefined {
  const literal = String.fromCodePoint(...runes);
  return literal === '' || HALF_PAIR.test(literal) ? undefined : soughtWord(foldCase(literal));
}

/** The longest words come first: the fewest texts hold them. */
function allOf(needs: readonly (Need | undefined)[]): Need | undefined {
  const words = new Map<string, SoughtWord>();
  const others: Need[] = [];
  for (const need of needs) {
    if (need === undefined) continue;
    for (const part of 'all' in need ? need.all : [need]) {
      if ('text' in part) words.set(part.text, part);
      else if (others.length < MOST_WORDS) others.push(part);
    }
  }
  const longest = [...words.values()].toSorted((a, b) => b.text.length - a.text.length).slice(0, MOST_WORDS);
  const all = [...longest, ...others];
  return all.length > 1 ? { all } : all[0];
}

function anyOf(needs: readonly (Need | undefined)[]): Need | undefined {
  const any: Need[] = [];
  for (const need of needs) {
    if (need === undefined) return undefined;
    any.push(...('any' in need ? need.any : [need]));
  }
  return any.length > 1 ? { any } : any[0];
}
