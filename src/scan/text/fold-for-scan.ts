import { isAscii } from '../../skills/text/ascii.ts';
import { removeHidden } from '../../skills/text/hidden-characters.ts';
import { CONFUSABLE_LETTERS } from './confusable-letters.ts';

/** A text as its phrases are looked for, with the way back to where they stand. */
export interface FoldedText {
  /** Lower case, without hidden characters, look-alikes as the letters that they look like. */
  text: string;
  /** The offset in the text before of an offset in this one. */
  offsetOf(at: number): number;
}

/** Joiners count where a reader knows emoji and Persian; a phrase is looked for without them. */
const JOINERS = /[\u200c\u200d]/g;
const OUTSIDE_ASCII = /[\u0080-\uffff]+/g;
/** Nothing from here to the private use of Unicode looks like a letter of ASCII. */
const IDEOGRAPHS = 0x2e80;
const IDEOGRAPHS_END = 0xe000;

/**
 * Folds a text, so that a phrase is found in whatever case and letters it is written. Takes time in proportion to the text.
 *
 * @param text any text
 */
export function foldForScan(text: string): FoldedText {
  if (isAscii(text)) return { text: text.toLowerCase(), offsetOf: (at) => at };
  const folded: string[] = [];
  /** Where pieces begin, before and after; within a piece one unit is one unit. */
  const before: number[] = [];
  const after: number[] = [];
  let length = 0;
  const add = (piece: string, from: number): void => {
    if (piece === '') return;
    folded.push(piece);
    before.push(from);
    after.push(length);
    length += piece.length;
  };
  let end = 0;
  for (const { 0: run, index } of text.matchAll(OUTSIDE_ASCII)) {
    add(text.slice(end, index).toLowerCase(), end);
    end = index + run.length;
    let plain = index;
    for (let at = index; at < end;) {
      const code = text.codePointAt(at) ?? 0;
      const next = at + (code > 0xffff ? 2 : 1);
      if (code < IDEOGRAPHS || code >= IDEOGRAPHS_END) {
        add(text.slice(plain, at), plain);
        add(foldedCharacter(String.fromCodePoint(code)), at);
        plain = next;
      }
      at = next;
    }
    add(text.slice(plain, end), plain);
  }
  add(text.slice(end).toLowerCase(), end);
  return {
    text: folded.join(''),
    offsetOf(at) {
      let low = 0;
      for (let high = after.length; high - low > 1;) {
        const middle = (low + high) >> 1;
        if ((after[middle] ?? 0) <= at) low = middle;
        else high = middle;
      }
      return Math.min((before[low] ?? 0) + at - (after[low] ?? 0), text.length);
    },
  };
}

const known = new Map<string, string>();

function foldedCharacter(character: string): string {
  let folded = known.get(character);
  if (folded === undefined) {
    const seen = removeHidden(character).replace(JOINERS, '').normalize('NFKC');
    folded = [...seen]
      .map((each) => CONFUSABLE_LETTERS.get(each) ?? each)
      .join('')
      .toLowerCase();
    // A few thousand characters are all that texts are written in.
    if (known.size < 10_000) known.set(character, folded);
  }
  return folded;
}
