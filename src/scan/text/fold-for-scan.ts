import { isAscii } from '../../skills/text/words/ascii.ts';
import { removeHidden } from '../../skills/text/hidden-characters.ts';
import { CONFUSABLE_LETTERS } from './confusable-letters.ts';
import { growingOffsets } from './growing-offsets.ts';

/** A text that is folded for the search of phrases, with its original offsets. */
export interface FoldedText {
  /** Lower case, one blank or line end for each gap, no hidden characters, look-alikes replaced by the letters that they look like. */
  text: string;
  /** Converts an offset in this text to one in the original text. */
  offsetOf(at: number): number;
}

/** Joiners are legitimate in emoji and Persian, but a phrase is searched without them. */
const JOINERS = /[\u200c\u200d]/g;
const OUTSIDE_ASCII = /[\u0080-\uffff]+/g;
/** No character from here to Unicode's private use area looks like an ASCII letter. */
const IDEOGRAPHS = 0x2e80;
const IDEOGRAPHS_END = 0xe000;

/**
 * Folds a text, so that a phrase is found in any case, letters and spacing. Takes time in proportion to the text.
 *
 * @param text any text
 * @param ascii whether the text is known to be ASCII
 */
export function foldForScan(text: string, ascii: boolean = isAscii(text)): FoldedText {
  const pieces = createPieces(text);
  if (ascii) {
    addPlain(pieces, text, 0);
    return pieces.folded();
  }
  let end = 0;
  for (const { 0: run, index } of text.matchAll(OUTSIDE_ASCII)) {
    addPlain(pieces, text.slice(end, index), end);
    end = index + run.length;
    addBeyondAscii(pieces, text, index, end);
  }
  addPlain(pieces, text.slice(end), end);
  return pieces.folded();
}

interface Pieces {
  /** Adds a piece whose units follow each other in the original text from an offset on. */
  add(piece: string, from: number): void;
  folded(): FoldedText;
}

/** Pieces are joined when there are this many: single pieces of a large text would take many times its memory. */
const HELD = 4_096;

function createPieces(whole: string): Pieces {
  const texts: string[] = [];
  let pieces: string[] = [];
  /** Offsets where runs begin, in the original and in the folded text. Within a run, one unit maps to one unit. */
  const before = growingOffsets();
  const after = growingOffsets();
  let length = 0;
  /** Original offset minus folded offset of the current run; -1 before the first. */
  let shift = -1;
  return {
    add(piece, from) {
      if (piece === '') return;
      pieces.push(piece);
      if (pieces.length === HELD) {
        texts.push(pieces.join(''));
        pieces = [];
      }
      if (from - length !== shift) {
        before.push(from);
        after.push(length);
        shift = from - length;
      }
      length += piece.length;
    },
    folded: () => ({
      text: texts.join('') + pieces.join(''),
      offsetOf(at) {
        let low = 0;
        for (let high = after.length(); high - low > 1;) {
          const middle = (low + high) >> 1;
          if (after.at(middle) <= at) low = middle;
          else high = middle;
        }
        return Math.min(before.at(low) + at - after.at(low), whole.length);
      },
    }),
  };
}

/** Adds lower case text with one blank or one line end for each gap. */
function addPlain(pieces: Pieces, text: string, from: number): void {
  const lower = text.toLowerCase();
  let end = 0;
  for (const { 0: gap, index } of lower.matchAll(GAPS)) {
    pieces.add(lower.slice(end, index), from + end);
    end = index + gap.length;
    const newline = gap.indexOf('\n');
    if (newline < 0) pieces.add(' ', from + index);
    else pieces.add('\n', from + index + newline);
  }
  pieces.add(lower.slice(end), from + end);
}

/** Gaps other than exactly one blank or one line end. */
const GAPS = /[\t-\r ]{2,}|[\t\v\f\r]/g;

function addBeyondAscii(pieces: Pieces, text: string, start: number, end: number): void {
  let plain = start;
  for (let at = start; at < end;) {
    const code = text.codePointAt(at) ?? 0;
    const next = at + (code > 0xffff ? 2 : 1);
    if (code < IDEOGRAPHS || code >= IDEOGRAPHS_END) {
      pieces.add(text.slice(plain, at), plain);
      pieces.add(foldedCharacter(String.fromCodePoint(code)), at);
      plain = next;
    }
    at = next;
  }
  pieces.add(text.slice(plain, end), plain);
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
    // Real texts use a few thousand different characters.
    if (known.size < 10_000) known.set(character, folded);
  }
  return folded;
}
