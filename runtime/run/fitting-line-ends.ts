import { type Diagnostic, diagnostic } from '../../src/contracts/errors/diagnostic.ts';
import type { LanguageDefinition } from '../../src/contracts/jobs/language.ts';

/**
 * The program in the form that its interpreter reads. Bash gets it without the carriage returns of Windows' line ends, which would become part of its
 * words, and without a byte order mark, which would become part of its first word. The diagnostic reports the line ends.
 */
export function fittingLineEnds(
  language: LanguageDefinition,
  code: string,
): { program: string; diagnostics: Diagnostic[] } {
  if (language.lineEnds !== 'lf') return { program: code, diagnostics: [] };
  const { text, lines } = withLineFeeds(withoutMark(code));
  if (lines === 0) return { program: text, diagnostics: [] };
  const message = `${lines} lines end with a carriage return, which ${language.title} takes for part of a word; the program ran without them.`;
  return { program: text, diagnostics: [diagnostic('program.line-ends', message)] };
}

/** A text without its byte order mark, which some editors write. */
export function withoutMark(text: string): string {
  return text.startsWith('\uFEFF') ? text.slice(1) : text;
}

/** A text whose lines all end with a line feed alone, and the number of changed lines. */
export function withLineFeeds(text: string): { text: string; lines: number } {
  const fitting = text.replaceAll('\r\n', '\n');
  return { text: fitting, lines: text.length - fitting.length };
}
