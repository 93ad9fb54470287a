import { type CodeRange, codeRanges } from './code-ranges.ts';

/** The beginning of a line that looks like one of our markers or headings. Every kind of line end counts. */
const LOOK_ALIKE =
  /(^|[\n\r\v\f\u0085\u2028\u2029])([^\S\n\r\v\f\u2028\u2029]*)(?=\[ACTIVE SKILLS\]|\[END ACTIVE SKILLS\]|#{1,6}[^\S\n\r\v\f\u2028\u2029]*Skill:)/giu;

/** A text without look-alikes of our markers. */
export interface EscapedText {
  text: string;
  /** Offsets in the original text of changed lines inside a code fence. */
  fenced: number[];
}

/**
 * Puts a backslash before the first non-blank character of every line that looks like a marker of the `[ACTIVE SKILLS]`
 * block or like the heading of a skill in it.
 *
 * @param text the body of a skill
 * @returns the text; none of its lines begins with a marker
 */
export function escapeMarkers(text: string): EscapedText {
  const fenced: number[] = [];
  let fences: CodeRange[] | undefined;
  let at = 0;
  const escaped = text.replace(LOOK_ALIKE, (_whole, lineEnd: string, blanks: string, offset: number) => {
    const start = offset + lineEnd.length;
    fences ??= codeRanges(text).filter((range) => range.fenced);
    while ((fences[at]?.end ?? Infinity) <= start) at += 1;
    if ((fences[at]?.start ?? Infinity) <= start) fenced.push(start);
    return `${lineEnd}${blanks}\\`;
  });
  return { text: escaped, fenced };
}
