import type { TextRange } from './text-ranges.ts';

/** Syntax of comments: to the end of the line, or between two marks. */
interface CommentSyntax {
  line: readonly string[];
  block: readonly (readonly [open: string, close: string])[];
}

const HASH: CommentSyntax = { line: ['#'], block: [] };
const SLASHES: CommentSyntax = { line: ['//'], block: [['/*', '*/']] };
const MARKUP: CommentSyntax = { line: [], block: [['<!--', '-->']] };
const DASHES: CommentSyntax = { line: ['--'], block: [['/*', '*/']] };
/** First lines of scripts whose comments differ from those of a shell. */
const SLASHES_RUN = /^#!.*\b(?:node|deno|bun|tsx|ts-node|php|scala|swift|go)\b/;

const BY_ENDING: Readonly<Record<string, CommentSyntax>> = {
  ...Object.fromEntries(['md', 'markdown', 'html', 'htm', 'xml', 'svg', 'mdx'].map((ending) => [ending, MARKUP])),
  ...Object.fromEntries(
    'js mjs cjs ts mts cts jsx tsx c h cc cpp cs java go rs swift kt scala dart css scss less php jsonc json'
      .split(' ')
      .map((ending) => [ending, SLASHES]),
  ),
  sql: DASHES,
  lua: { line: ['--'], block: [['--[[', ']]']] },
  ps1: { line: ['#'], block: [['<#', '#>']] },
};

/**
 * Finds comments by the ending of the file's name, or by the interpreter in its first line. Quotes are ignored: a look-alike in a string counts.
 *
 * @returns ranges in order
 */
export function* commentRanges(path: string, text: string): Generator<TextRange> {
  const name = path.slice(path.lastIndexOf('/') + 1);
  const { line, block } =
    BY_ENDING[name.slice(name.lastIndexOf('.') + 1).toLowerCase()] ?? (SLASHES_RUN.test(text) ? SLASHES : HASH);
  const marks = [...block.map(([open, close]) => ({ open, close })), ...line.map((open) => ({ open, close: '\n' }))];
  /** Next offset of each mark; a mark that does not occur any more is searched only once. */
  const next = marks.map(({ open }) => text.indexOf(open));
  for (let at = 0; ;) {
    for (const [index, { open }] of marks.entries())
      if ((next[index] ?? -1) >= 0 && (next[index] ?? -1) < at) next[index] = text.indexOf(open, at);
    const first = marks
      .map((mark, index) => ({ ...mark, start: next[index] ?? -1 }))
      .filter(({ start }) => start >= 0)
      .toSorted((a, b) => a.start - b.start || b.open.length - a.open.length)[0];
    if (first === undefined) return;
    const { open, close, start } = first;
    if (close === '\n' && !/[\s;{(]/.test(text[start - 1] ?? ' ')) {
      // Within a word or an address, the mark begins no comment.
      at = start + open.length;
      continue;
    }
    const closing = text.indexOf(close, start + open.length);
    const end = closing < 0 ? text.length : closing + (close === '\n' ? 0 : close.length);
    yield { start, end };
    at = end;
  }
}
