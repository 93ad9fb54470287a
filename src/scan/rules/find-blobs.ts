import type { FoundInFile } from '../scan-finding.ts';
import type { ScannedFile } from '../scanned-file.ts';

/** So many characters without a blank are no word, no address and no digest. */
const BLOB_LENGTH = 300;
/** Base64 is wrapped at 64 or 76 columns. */
const WRAPPED_LENGTH = 56;
const WRAPPED_LINES = 5;
const BASE64 = /^["'`]?[A-Za-z0-9+/_-]+={0,2}["'`]?[,;)+\\]?$/;
const HEX = /^["'`]?(?:0x)?[0-9a-fA-F]+["'`]?[,;)+\\]?$/;
const CODED = /[A-Za-z0-9+/_=-]+/g;
const ESCAPES =
  /(?:\\x[0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|\\[0-7]{3}|0x[0-9a-fA-F]{2}\s{0,2},\s{0,2}|&#x?[0-9a-fA-F]{2,5};){40,}/g;
const NUMBERS = /fromcharcode\s{0,4}\((?:\s{0,2}(?:0x)?[0-9a-f]{1,5}\s{0,2},){20}/g;

/** Finds long runs of coded bytes. Images that a page shows in place are left alone, and so are lists of digests. */
export function findBlobs({ text, folded }: ScannedFile): FoundInFile[] {
  const found: FoundInFile[] = [];
  let wrapped = 0;
  let wrappedFrom = 0;
  for (let start = 0; start < text.length;) {
    const newline = text.indexOf('\n', start);
    const end = newline < 0 ? text.length : newline;
    if (end - start >= WRAPPED_LENGTH) {
      const line = text.slice(start, end);
      if (end - start >= BLOB_LENGTH) found.push(...longRuns(line, start));
      else if (isCoded(line.trim())) {
        if (wrapped === 0) wrappedFrom = start;
        wrapped += 1;
        if (wrapped === WRAPPED_LINES) found.push(blob('Lines of base64 or hexadecimal digits', wrappedFrom));
      } else wrapped = 0;
    } else wrapped = 0;
    start = end + 1;
  }
  for (const pattern of text.includes('\\') || text.includes('0x') || text.includes('&#') ? [ESCAPES] : [])
    for (const { index } of text.matchAll(pattern)) found.push(blob('A long run of escaped bytes', index));
  if (folded.text.includes('fromcharcode'))
    for (const { index } of folded.text.matchAll(NUMBERS))
      found.push(blob('A long list of the codes of characters', folded.offsetOf(index)));
  return found;
}

function blob(what: string, at: number): FoundInFile {
  return { code: 'scan.blob', message: `${what} stands here; what they say was not looked at.`, at };
}

function isCoded(line: string): boolean {
  // A line of a table of contents or a path has no digits and both cases.
  return (BASE64.test(line) && /\d/.test(line) && /[a-z]/.test(line) && /[A-Z]/.test(line)) || HEX.test(line);
}

const IMAGE = /data:(?:image|font)\/[\w.+-]{1,40};base64,$/;

function longRuns(line: string, offset: number): FoundInFile[] {
  const found: FoundInFile[] = [];
  for (const { index, 0: run } of line.matchAll(CODED)) {
    if (run.length < BLOB_LENGTH || IMAGE.test(line.slice(Math.max(0, index - 80), index))) continue;
    // A ruled line is one character again and again.
    if (new Set(run.slice(0, BLOB_LENGTH)).size < 8) continue;
    found.push(blob(`${run.length} characters of base64 or hexadecimal digits`, offset + index));
  }
  return found;
}
