import { type Diagnostic, diagnostic } from '../../src/contracts/diagnostic.ts';
import type { LanguageDefinition } from '../../src/contracts/language.ts';

/**
 * The program with line ends that its interpreter takes: as it is, or for bash without the carriage returns of Windows'
 * line ends, which would stand in its words. The diagnostic says so.
 */
export function fittingLineEnds(
  { title, lineEnds }: LanguageDefinition,
  code: string,
): { program: string; diagnostics: Diagnostic[] } {
  if (lineEnds !== 'lf' || !code.includes('\r\n')) return { program: code, diagnostics: [] };
  const fitting = code.replaceAll('\r\n', '\n');
  const message = `${code.length - fitting.length} lines end with a carriage return, which ${title} takes for part of a word; the program ran without them.`;
  return { program: fitting, diagnostics: [diagnostic('program.line-ends', message)] };
}
