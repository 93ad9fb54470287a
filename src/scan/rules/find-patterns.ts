import type { FoundInFile } from '../scan-finding.ts';
import type { ScannedFile } from '../scanned-file.ts';
import type { ScanCode } from '../scan-rules.ts';

/** Something that is found by how it is written. */
export interface ScanPattern {
  code: ScanCode;
  /** Of each list one word has to be in the folded text, else nothing is looked for: that takes a fraction of the time. */
  needs: readonly (readonly string[])[];
  /** With the flag `g`. It sees the folded text: lower case, and neither hidden characters nor look-alikes. */
  pattern: RegExp;
  /** What has to stand behind the first match of a line, on that line or on those that continue it. */
  then?: RegExp;
  message: string;
}

/** Finds all places of the patterns, of one code one a line. */
export function findPatterns(
  { folded, holds }: Pick<ScannedFile, 'folded' | 'holds'>,
  patterns: readonly ScanPattern[],
): FoundInFile[] {
  const found: FoundInFile[] = [];
  for (const { code, needs, pattern, then, message } of patterns) {
    if (!needs.every((words) => words.some(holds))) continue;
    let lineEnd = -1;
    for (const { index, 0: match } of folded.text.matchAll(pattern)) {
      if (index < lineEnd) continue;
      const end = index + match.length;
      lineEnd = logicalLineEnd(folded.text, end);
      if (then === undefined || then.test(folded.text.slice(end, lineEnd)))
        found.push({ code, message, at: folded.offsetOf(index) });
    }
  }
  return found;
}

/** The end of a line, or of the last one that continues it. */
function logicalLineEnd(text: string, from: number): number {
  for (let end = text.indexOf('\n', from); end >= 0; end = text.indexOf('\n', end + 1)) {
    if (text[end - 1] !== '\\') return end;
  }
  return text.length;
}
