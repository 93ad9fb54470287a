import { HIDDEN_EACH } from '../../skills/text/hidden-characters.ts';
import type { TextRange } from './text-ranges.ts';

/** The black flag that begins an emoji of a region: tags and an end tag follow it. */
const FLAG = 0x1f3f4;
const FLAG_TAGS = /^[\u{e0061}-\u{e007a}\u{e0030}-\u{e0039}]{3,6}\u{e007f}/u;
/** Selects one of several forms of the ideograph before it. */
const IDEOGRAPHIC_SELECTOR = /^[\u{e0100}-\u{e01ef}]$/u;
const IDEOGRAPH = /\p{Unified_Ideograph}/u;

/** Finds runs of invisible characters, without those that belong to a flag or an ideograph. */
export function* hiddenRuns(text: string): Generator<TextRange> {
  let run: TextRange | undefined;
  for (const { index, 0: character } of text.matchAll(HIDDEN_EACH())) {
    const end = index + character.length;
    if (run?.end === index) run.end = end;
    else {
      if (run !== undefined) yield* beyondEmoji(text, run);
      run = { start: index, end };
    }
  }
  if (run !== undefined) yield* beyondEmoji(text, run);
}

/** The part of a run that does not belong to the character before it. */
function* beyondEmoji(text: string, { start, end }: TextRange): Generator<TextRange> {
  const before = characterBefore(text, start);
  const run = text.slice(start, end);
  const flag = before === FLAG ? (FLAG_TAGS.exec(run)?.[0].length ?? 0) : 0;
  if (IDEOGRAPHIC_SELECTOR.test(run) && IDEOGRAPH.test(String.fromCodePoint(before))) return;
  if (start + flag < end) yield { start: start + flag, end };
}

function characterBefore(text: string, at: number): number {
  if (at === 0) return 0;
  const low = text.charCodeAt(at - 1);
  return low >= 0xdc00 && low <= 0xdfff && at > 1 ? (text.codePointAt(at - 2) ?? 0) : low;
}
