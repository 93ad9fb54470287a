/** A part of a command line between pipes. */
export interface PipeStage {
  text: string;
  /** Offset in the text. */
  at: number;
}

/** Commands that pipes join. */
export type Pipeline = readonly PipeStage[];

/** `&&`, `||`, `;` and line ends end a pipeline; `|&` is a pipe. */
const SEPARATOR = /\|\|?&?|&&|;/g;

/**
 * Cuts lines into pipelines. A line continues after a backslash, a backtick or a pipe at its end, and before a line that
 * begins with a pipe. Quotes are ignored. Takes time in proportion to the text.
 *
 * @param text folded text
 * @param isMarkdown whether a line that begins with a pipe is a row of a table
 * @param isWanted whether a line is needed
 */
export function* pipelinesOf(
  text: string,
  isMarkdown: boolean,
  isWanted: (line: string) => boolean,
): Generator<Pipeline> {
  for (let start = 0; start < text.length;) {
    const end = statementEnd(text, start);
    const line = text.slice(start, end);
    if (isWanted(line)) yield* cut(joined(line, isMarkdown), start);
    start = end + 1;
  }
}

/** Replaces continuation characters with spaces, so that offsets stay. In a row of a table, only a pipe in code is a pipe. */
function joined(line: string, isMarkdown: boolean): string {
  const whole = line.replace(/[\\`](?=\n)/g, ' ').replaceAll('\n', ' ');
  if (!isMarkdown || !/^\s{0,3}\|/.test(whole)) return whole;
  return whole
    .split('`')
    .map((piece, index) => (index % 2 === 0 ? piece.replaceAll('|', ';') : piece.replaceAll('\\|', ' |')))
    .join('`');
}

function* cut(line: string, offset: number): Generator<Pipeline> {
  let stages: PipeStage[] = [];
  let from = 0;
  for (const { 0: separator, index } of line.matchAll(SEPARATOR)) {
    stages.push({ text: line.slice(from, index), at: offset + from });
    from = index + separator.length;
    if (separator === '|' || separator === '|&') continue;
    yield stages;
    stages = [];
  }
  yield [...stages, { text: line.slice(from), at: offset + from }];
}

function statementEnd(text: string, start: number): number {
  const beginsWithRow = isRow(text, start);
  for (let end = text.indexOf('\n', start); end >= 0; end = text.indexOf('\n', end + 1)) {
    const last = lastOf(text, end, start);
    if (text[end - 1] === '\\' || (last === '|' && !beginsWithRow)) continue;
    if (text[end - 1] === '`' && text[end - 2] === ' ') continue;
    // A row of a table begins and ends with a pipe; it continues no command.
    if (firstOf(text, end + 1) !== '|' || isRow(text, end + 1) || beginsWithRow) return end;
  }
  return text.length;
}

/** The last non-blank character before an offset. */
function lastOf(text: string, end: number, start: number): string | undefined {
  let at = end - 1;
  while (at >= start && (text[at] === ' ' || text[at] === '\t')) at -= 1;
  return at < start ? undefined : text[at];
}

function isRow(text: string, start: number): boolean {
  const newline = text.indexOf('\n', start);
  const end = newline < 0 ? text.length : newline;
  return firstOf(text, start) === '|' && lastOf(text, end, start) === '|' && text.slice(start, end).trim() !== '|';
}

function firstOf(text: string, from: number): string | undefined {
  let at = from;
  while (text[at] === ' ' || text[at] === '\t') at += 1;
  return text[at];
}
