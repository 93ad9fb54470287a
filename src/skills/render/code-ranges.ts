import { findFencedBlocks } from '../text/words/markdown-fences.ts';

/** A range of text; `end` is exclusive. */
export interface TextRange {
  start: number;
  end: number;
}

/** A range of code. */
export interface CodeRange extends TextRange {
  /** A fenced block; false for inline code. */
  fenced: boolean;
}

const BACKTICK_RUN = /`+/g;
const EMPTY_LINE = /\n[^\S\n]*(?=\n)/g;

/**
 * Finds the code in a Markdown text: fenced blocks, and inline code within a paragraph. An unclosed fence reaches to the
 * end.
 *
 * @param text Markdown
 * @returns the ranges of code, in order
 */
export function codeRanges(text: string): CodeRange[] {
  const ranges: CodeRange[] = [];
  let at = 0;
  for (const { start, end } of findFencedBlocks(text)) {
    inlineCodeBetween(text, { start: at, end: start }, ranges);
    ranges.push({ start, end, fenced: true });
    at = end;
  }
  inlineCodeBetween(text, { start: at, end: text.length }, ranges);
  return ranges;
}

/** Adds the inline code of each paragraph of a range. */
function inlineCodeBetween(text: string, { start, end }: TextRange, ranges: CodeRange[]): void {
  const stretch = text.slice(start, end);
  let paragraph = start;
  for (const line of stretch.matchAll(EMPTY_LINE)) {
    const next = start + line.index;
    inlineCode(text, { start: paragraph, end: next }, ranges);
    paragraph = next;
  }
  inlineCode(text, { start: paragraph, end }, ranges);
}

/** Adds the inline code of one paragraph: runs of backticks of equal length. An escaped backtick opens nothing. */
function inlineCode(text: string, paragraph: TextRange, ranges: CodeRange[]): void {
  const body = text.slice(paragraph.start, paragraph.end);
  const runs = new Map<number, number[]>();
  for (const run of body.matchAll(BACKTICK_RUN)) {
    const starts = runs.get(run[0].length);
    if (starts === undefined) runs.set(run[0].length, [run.index]);
    else starts.push(run.index);
  }
  if (runs.size === 0) return;
  const tried = new Map<number, number>();
  for (let at = 0; at < body.length;) {
    if (body[at] === '\\') {
      at += 2;
      continue;
    }
    if (body[at] !== '`') {
      at += 1;
      continue;
    }
    let end = at;
    while (body[end] === '`') end += 1;
    const length = end - at;
    const starts = runs.get(length) ?? [];
    let next = tried.get(length) ?? 0;
    while (next < starts.length && (starts[next] ?? 0) < end) next += 1;
    tried.set(length, next);
    const close = starts[next];
    if (close === undefined) {
      at = end;
      continue;
    }
    ranges.push({ start: paragraph.start + at, end: paragraph.start + close + length, fenced: false });
    at = close + length;
  }
}
