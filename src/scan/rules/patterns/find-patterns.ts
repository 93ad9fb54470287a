import type { FoundInFile } from '../../scan-finding.ts';
import type { ScannedFile } from '../../scanned-file.ts';
import type { ScanCode } from '../../scan-rules.ts';
import { isCommandPlace, isRedirect } from '../../text/commands/command-place.ts';

/** A finding that its spelling identifies. */
export interface ScanPattern {
  code: ScanCode;
  /** The folded text must hold one word of each list; otherwise the pattern is skipped, which saves most of the time. */
  needs: readonly (readonly string[])[];
  /** With the flag `g`. It is applied to the folded text: lower case, single blanks, no hidden characters, look-alikes replaced. */
  pattern: RegExp;
  /** Forbidden before a match: a word character, or for `command` also a character of a path or an option. */
  apart?: 'word' | 'command';
  /** Where a match counts: at the place of a command, at a `>` that redirects to a file, or in prose outside of code. */
  place?: 'command' | 'redirect' | 'prose';
  /** Condition for the text behind the first match of a line, up to the end of its last continuation line. */
  behind?: RegExp | ((rest: string) => boolean);
  message: string;
}

const WORD = /\w/;
const COMMAND = /[\w./-]/;

/** Finds all matches of the patterns, at most one for each pattern and line. */
export function* findPatterns(file: ScannedFile, patterns: readonly ScanPattern[]): Generator<FoundInFile> {
  const { folded, holds } = file;
  for (const { code, needs, pattern, apart, place, behind, message } of patterns) {
    if (!needs.every((words) => words.some(holds))) continue;
    const isShell = apart === 'command' || place === 'command' || place === 'redirect';
    const text = isShell ? file.commands() : folded.text;
    let lineEnd = -1;
    for (const { index, 0: match } of text.matchAll(pattern)) {
      if (index < lineEnd) continue;
      if (apart !== undefined && index > 0 && (apart === 'word' ? WORD : COMMAND).test(text[index - 1] ?? '')) continue;
      if (place !== undefined && !isInPlace(place, file, text, index + match.length - match.trimStart().length))
        continue;
      const end = index + match.length;
      lineEnd = logicalLineEnd(text, end);
      if (behind === undefined || stands(behind, text.slice(end, lineEnd)))
        yield { code, message, at: folded.offsetOf(end - match.trimStart().length) };
    }
  }
}

function isInPlace(place: NonNullable<ScanPattern['place']>, file: ScannedFile, text: string, at: number): boolean {
  if (place === 'prose') return file.isProse && !file.isInCode(at);
  if (place === 'redirect') return text[at] !== '>' || isRedirect(text, at);
  return isCommandPlace(text, at);
}

function stands(behind: RegExp | ((rest: string) => boolean), rest: string): boolean {
  return typeof behind === 'function' ? behind(rest) : behind.test(rest);
}

/** End of a line, or of its last continuation line. */
function logicalLineEnd(text: string, from: number): number {
  for (let end = text.indexOf('\n', from); end >= 0; end = text.indexOf('\n', end + 1)) {
    if (text[end - 1] !== '\\') return end;
  }
  return text.length;
}
