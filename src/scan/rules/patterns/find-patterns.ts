import type { FoundInFile } from '../../scan-finding.ts';
import type { ScannedFile } from '../../scanned-file.ts';
import type { ScanCode } from '../../scan-rules.ts';
import { isCommandPlace, isRedirect } from '../../text/commands/command-place.ts';

/** Something that is found by how it is written. */
export interface ScanPattern {
  code: ScanCode;
  /** Of each list one word has to be in the folded text, else nothing is looked for: that takes a fraction of the time. */
  needs: readonly (readonly string[])[];
  /** With the flag `g`. It sees the folded text: lower case, one blank a gap, and neither hidden characters nor look-alikes. */
  pattern: RegExp;
  /** What may not stand before a match: a part of a word, or of a path or an option as well. */
  apart?: 'word' | 'command';
  /** Where a match counts: where a command stands, where `>` sends output to a file, or in prose that is no code. */
  place?: 'command' | 'redirect' | 'prose';
  /** What has to stand behind the first match of a line, on that line or on those that continue it. */
  behind?: RegExp | ((rest: string) => boolean);
  message: string;
}

const WORD = /\w/;
const COMMAND = /[\w./-]/;

/** Finds all places of the patterns, of one pattern one a line. */
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

/** The end of a line, or of the last one that continues it. */
function logicalLineEnd(text: string, from: number): number {
  for (let end = text.indexOf('\n', from); end >= 0; end = text.indexOf('\n', end + 1)) {
    if (text[end - 1] !== '\\') return end;
  }
  return text.length;
}
