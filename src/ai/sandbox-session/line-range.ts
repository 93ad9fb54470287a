import { SkillcellError } from '../../contracts/skillcell-error.ts';

/** Lines from the first to the last one, both from 1 and taken in. */
export interface LineRange {
  startLine?: number | undefined;
  endLine?: number | undefined;
}

/**
 * Lines of a text as they stand there, without what ends the last of them. Without a range all of the text. A carriage return ends a line
 * where it stands before a line feed, or where there is no line feed at all.
 *
 * @throws SkillcellError `options.invalid`
 */
export function linesOf(text: string, { startLine, endLine }: LineRange): string {
  for (const [name, value] of Object.entries({ startLine, endLine })) {
    if (value === undefined || (Number.isSafeInteger(value) && value >= 1)) continue;
    throw new SkillcellError(
      'options.invalid',
      `Cannot read lines: ${name} must be a whole number from 1, got ${value}.`,
    );
  }
  if (startLine === undefined && endLine === undefined) return text;
  // Lines at even places, and what ends each behind it.
  const pieces = text.split(text.includes('\n') ? /(\r?\n)/ : /(\r)/);
  const first = ((startLine ?? 1) - 1) * 2;
  return pieces.slice(first, endLine === undefined ? undefined : endLine * 2 - 1).join('');
}
