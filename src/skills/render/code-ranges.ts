/** A stretch of text, `end` not included. */
export interface TextRange {
  start: number;
  end: number;
}

/** A stretch of code. */
export interface CodeRange extends TextRange {
  /** A fenced block; false for inline code. */
  fenced: boolean;
}

const OPENING_FENCE = /^\s*(`{3,}|~{3,})([^]*)$/;
const CLOSING_FENCE = /^\s*(`{3,}|~{3,})\s*$/;
const BACKTICK_RUN = /`+/g;

/**
 * Finds the code in a Markdown text: fenced blocks, and inline code within a paragraph. A fence that isn't closed
 * reaches to the end.
 *
 * @param text Markdown
 * @returns the stretches that are code, in order
 */
export function codeRanges(text: string): CodeRange[] {
  const ranges: CodeRange[] = [];
  let fence: { marks: string; start: number } | undefined;
  let paragraph = 0;
  for (let at = 0; at <= text.length;) {
    const newline = text.indexOf('\n', at);
    const end = newline < 0 ? text.length : newline;
    const line = text.slice(at, end);
    if (fence !== undefined) {
      const marks = CLOSING_FENCE.exec(line)?.[1];
      if (marks !== undefined && marks[0] === fence.marks[0] && marks.length >= fence.marks.length) {
        ranges.push({ start: fence.start, end, fenced: true });
        fence = undefined;
        paragraph = end;
      }
    } else {
      const [, marks, rest = ''] = OPENING_FENCE.exec(line) ?? [];
      const opens = marks !== undefined && !(marks.startsWith('`') && rest.includes('`'));
      if (opens || line.trim() === '') {
        inlineCode(text, { start: paragraph, end: at }, ranges);
        paragraph = end;
      }
      if (opens) fence = { marks, start: at };
    }
    at = end + 1;
  }
  if (fence === undefined) inlineCode(text, { start: paragraph, end: text.length }, ranges);
  else ranges.push({ start: fence.start, end: text.length, fenced: true });
  return ranges;
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
