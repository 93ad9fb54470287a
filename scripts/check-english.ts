/** Checks the rules of English in CONTRIBUTING.md that a program can check. */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Words without a noun to stand for. The system's account of that name is one, and so is Python's `None`. */
const BANNED = /\b(?:whoever|somebody|anybody|nobody|is none|none of ours|that which)\b/i;
const ACCOUNT = /65534|["'`]nobody["'`]|nobody:|\bNOBODY\b|is None/;
/** Most lines of comments with "what" clauses: one in a hundred. */
const MOST_IN_COMMENTS = 0.01;
/** Most words "what" in the prose of the documents: one in a thousand. */
const MOST_IN_PROSE = 0.001;
/** Longest line of a document. Rows of tables and lines of code cannot be divided. */
const LINE_LENGTH = 140;

/** Sources whose comments are checked. */
const SOURCE = /^(?:src|runtime|scripts|bench|examples|test)\/.*\.(?:[cm]?[jt]s|py|sh|pl)$/;
const DOCUMENT = /^(?:README|CONTRIBUTING|CHANGELOG)\.md$|^docs\/.*\.md$/;
/** Texts of others, formats, data of tests, and tasks of recordings. */
const NOT_OURS =
  /^test\/(?:conformance\/vectors|content|fixtures\/(?:scan|corpus|mcp-clients))\/|^examples\/decision\/questions\.ts$/;
/** This file, and its test, name the words. */
const RULES = /check-english/;

/** Counts of the words that a reader stumbles over. */
export interface EnglishCounts {
  commentLines: number;
  commentWhats: number;
  proseWords: number;
  proseWhats: number;
}

/** Faults of one file, and its share of the counts. */
export function readEnglish(path: string, text: string): { faults: string[]; counts: EnglishCounts } {
  const isDocument = DOCUMENT.test(path);
  const lines = text.split('\n');
  const faults = lines.flatMap((line, index) => {
    const banned = BANNED.exec(line)?.[0];
    if (banned === undefined || ACCOUNT.test(line)) return [];
    return [`${path}:${index + 1}: "${banned}" stands for no noun; name the noun`];
  });
  const counts: EnglishCounts = { commentLines: 0, commentWhats: 0, proseWords: 0, proseWhats: 0 };
  if (!isDocument) {
    const comments = lines.filter(isComment);
    counts.commentLines = comments.length;
    counts.commentWhats = comments.filter(hasWhat).length;
    return { faults, counts };
  }
  let isCode = false;
  for (const [index, line] of lines.entries()) {
    if (/^\s*(?:```|~~~)/.test(line)) isCode = !isCode;
    else if (!isCode) {
      const words = line.match(/[\p{L}\p{N}'’]+/gu) ?? [];
      counts.proseWords += words.length;
      counts.proseWhats += words.filter((word) => word.toLowerCase() === 'what').length;
      if (line.length > LINE_LENGTH && !line.startsWith('|') && !/^\S+$/.test(line.trim()))
        faults.push(`${path}:${index + 1}: a line has at most ${LINE_LENGTH} characters, not ${line.length}`);
    }
  }
  return { faults, counts };
}

function isComment(line: string): boolean {
  return /^\s*(?:\/\/|\/\*|\*|#(?!!))|(?:^|\s)\/\/ /.test(line);
}

function hasWhat(line: string): boolean {
  return /\bwhat\b/i.test(line);
}

if (import.meta.main) {
  const root = fileURLToPath(new URL('..', import.meta.url));
  const git = ['ls-files', '-z', '--cached', '--others', '--exclude-standard'];
  const paths = execFileSync('git', git, { cwd: root, encoding: 'utf8' })
    .split('\0')
    .filter((path) => (SOURCE.test(path) || DOCUMENT.test(path)) && !NOT_OURS.test(path) && !RULES.test(path))
    .filter((path) => existsSync(join(root, path)));
  const total: EnglishCounts = { commentLines: 0, commentWhats: 0, proseWords: 0, proseWhats: 0 };
  const faults: string[] = [];
  for (const path of paths) {
    const read = readEnglish(path, readFileSync(join(root, path), 'utf8'));
    faults.push(...read.faults);
    for (const key of Object.keys(total) as (keyof EnglishCounts)[]) total[key] += read.counts[key];
  }
  const { commentLines, commentWhats, proseWords, proseWhats } = total;
  if (commentWhats >= commentLines * MOST_IN_COMMENTS)
    faults.push(`"what" is in ${commentWhats} of ${commentLines} lines of comments; name the noun instead`);
  if (proseWhats > proseWords * MOST_IN_PROSE)
    faults.push(`"what" is ${proseWhats} of ${proseWords} words of the documents; name the noun instead`);
  for (const fault of faults) process.stderr.write(`${fault}\n`);
  if (faults.length > 0) process.exitCode = 1;
}
