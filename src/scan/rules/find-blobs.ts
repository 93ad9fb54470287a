import type { FoundInFile } from '../scan-finding.ts';
import type { WordSieve } from '../text/word-sieve.ts';
import type { ScannedFile } from '../scanned-file.ts';

/** A run without blanks of this length is no word, no address and no digest. */
const BLOB_LENGTH = 300;
/** Base64 is wrapped at 64 or 76 columns. */
const WRAPPED_LENGTH = 56;
const WRAPPED_LINES = 5;
const BASE64 = /^[A-Za-z0-9+/_-]+$/;
const HEX = /^[0-9a-fA-Fx]+$/;
/** Characters around encoded text in programs, comments and quotations, and its padding. */
const AROUND: ReadonlySet<string> = new Set('"\'`,;)+= \t\\>#|');
const CODED = /[A-Za-z0-9+/_=-]+/g;
/** Each match is one byte or character. */
const ESCAPE = /\\x[0-9a-f]{2}|\\u[0-9a-f]{4}|\\[0-7]{3}|0x[0-9a-f]{2},?|&#x?[0-9a-f]{2,5};|\b\d{1,5},/g;
const ESCAPE_BEGINS = ['\\x', '\\u', '\\0', '\\1', '\\2', '\\3', '0x', '&#'];
/** This number of escapes, with at most single blanks between them, counts as a text. */
const ESCAPES = 60;

/** Finds long runs of encoded bytes. It skips images that a page embeds, and lists of digests. */
export function* findBlobs({ text, folded, holds }: ScannedFile): Generator<FoundInFile> {
  let wrapped = 0;
  let wrappedFrom = 0;
  for (let start = 0; start < text.length;) {
    const newline = text.indexOf('\n', start);
    const end = newline < 0 ? text.length : newline;
    if (end - start >= WRAPPED_LENGTH) {
      const line = text.slice(start, end);
      if (end - start >= BLOB_LENGTH) yield* longRuns(line, start);
      else if (isCoded(bare(line))) {
        if (wrapped === 0) wrappedFrom = start;
        wrapped += 1;
        if (wrapped === WRAPPED_LINES) yield blob('Lines of base64 or hexadecimal digits', wrappedFrom);
      } else wrapped = 0;
    } else if (end > start) wrapped = 0;
    start = end + 1;
  }
  for (const at of escapeRuns(folded.text, holds)) yield blob('A long run of escaped bytes', folded.offsetOf(at));
}

function blob(finding: string, at: number): FoundInFile {
  return { code: 'scan.blob', message: `${finding}; the decoded content was not scanned.`, at };
}

function bare(line: string): string {
  let start = 0;
  let end = line.length;
  while (start < end && AROUND.has(line[start] ?? '')) start += 1;
  while (end > start && AROUND.has(line[end - 1] ?? '')) end -= 1;
  return line.slice(start, end);
}

function isCoded(line: string): boolean {
  // Paths and lines of a table of contents do not hold digits and letters of both cases.
  return (BASE64.test(line) && /\d/.test(line) && /[a-z]/.test(line) && /[A-Z]/.test(line)) || HEX.test(line);
}

function* longRuns(line: string, offset: number): Generator<FoundInFile> {
  for (const { index, 0: run } of line.matchAll(CODED)) {
    if (run.length < BLOB_LENGTH || isImage(line.slice(Math.max(0, index - 80), index))) continue;
    // A ruled line repeats one character.
    if (new Set(run.slice(0, BLOB_LENGTH)).size < 8) continue;
    yield blob(`${run.length} characters of base64 or hexadecimal digits`, offset + index);
  }
}

/** Offsets where runs of escapes begin. Lists of numbers count only if the file converts numbers to characters. */
function* escapeRuns(text: string, holds: WordSieve): Generator<number> {
  const withNumbers = holds('fromcharcode') || holds('chr(');
  if (!withNumbers && !ESCAPE_BEGINS.some((begin) => text.includes(begin))) return;
  let count = 0;
  let start = 0;
  let end = -1;
  for (const { index, 0: escape } of text.matchAll(ESCAPE)) {
    if (!withNumbers && escape.endsWith(',') && !escape.startsWith('0x')) continue;
    if (index === end || (index === end + 1 && /\s/.test(text[end] ?? ''))) count += 1;
    else [count, start] = [1, index];
    end = index + escape.length;
    if (count === ESCAPES) yield start;
  }
}

/** Whether the text ends with `data:image/…;base64,`. */
function isImage(before: string): boolean {
  const start = before.lastIndexOf('data:');
  return start >= 0 && before.endsWith(';base64,') && /^data:(?:image|font)\//.test(before.slice(start));
}
