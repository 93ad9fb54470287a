/** A fenced code block of a Markdown text (CommonMark 0.31, §4.5). */
export interface FencedBlock {
  /** First word of the info string in lower case, without punctuation around it; empty without one. */
  tag: string;
  /** The text behind the opening fence. */
  info: string;
  /** The opening fence. */
  fence: string;
  /** The lines between the fences, each with a newline. */
  code: string;
  /** Whether the block has a closing fence. */
  closed: boolean;
  /** Offset of the line of the opening fence. */
  start: number;
  /** Offset behind the last line of the block, without its line end. */
  end: number;
}

/** Reads the code of a block line by line, and knows whether a fence can end it. */
export interface CodeReader {
  line(text: string): void;
  /** The text that the next line lies in: `a string`, `a comment`, `a here-document`; undefined outside of texts. */
  inText(): string | undefined;
}

/** How fences are read. */
export interface FenceOptions {
  /** Returns a reader for the code of some blocks: a fence inside a text of the code does not close the block. */
  readerOf?(tag: string): CodeReader | undefined;
  /**
   * Called with the kind of the text in which such a block seems to end: either all its closing fences are inside texts of the
   * code and more lines follow the first one, or it has no closing fence. The scan ends there.
   */
  closedEarly?(text: string): void;
}

/** A block that a line may be in. */
type Container = { quote: true } | { quote: false; columns: number };

const FENCE = /^( {0,3})(`{3,}|~{3,})([^]*)$/;
const QUOTE = /^ {0,3}> ?/;
const ITEM = /^( {0,3})([-*+]|\d{1,9}[.)])( +|$)/;
const RULE = /^ {0,3}(?:(?:- *){3,}|(?:\* *){3,}|(?:_ *){3,})$/;
const SHORTEST = 3;
/** A closing fence with a larger indentation belongs to the code. */
const CLOSING_INDENTATION = 3;
/** Most lists and quotes inside each other; deeper marks are text. */
const MOST_CONTAINERS = 50;
const THINKING = /^\s*<(think|thinking|reasoning)>[\s\S]*?<\/\1>/;
const TAG = /[\p{L}\p{N}][\p{L}\p{N}+#_-]*/u;

/**
 * Finds the fenced code blocks of a text, by CommonMark. A fence has at least three backticks or tildes and is indented by at
 * most three blanks, also in lists and quotes. The closing fence has the same character, at least as often, and nothing
 * else on its line, so a longer fence may hold shorter ones. The lines of a block lose the indentation of its opening fence.
 * In a list, lines with a smaller indentation still belong to the block, because models often indent only their fences.
 *
 * @param text an answer of a model, or a body of Markdown
 * @returns the blocks, in order
 */
export function findFencedBlocks(text: string, { readerOf, closedEarly }: FenceOptions = {}): FencedBlock[] {
  const blocks: FencedBlock[] = [];
  const containers: Container[] = [];
  let open: OpenBlock | undefined;
  let isParagraph = false;
  const lineEnds = /\r\n|[\r\n]|$/g;
  for (let start = 0, end = -1; end < text.length; start = lineEnds.lastIndex) {
    end = lineEnds.exec(text)?.index ?? text.length;
    const line = text.slice(start, end);
    if (open !== undefined) {
      const rest = withinQuotes(line, containers);
      if (rest !== undefined) {
        const within = open.reader?.inText();
        if (within === undefined && closes(rest, open)) {
          blocks.push(blockOf(open, end, true));
          open = undefined;
          continue;
        }
        if (open.early !== undefined && rest.trim() !== '') {
          open.goesOn = true;
          // Another block begins, so the code ended before it, although its text did not.
          if (within === undefined && fenceLike(rest, open)) break;
        } else if (within !== undefined && closes(rest, open)) {
          open.early = { block: blockOf(open, end, true), text: within };
        }
        const code = withoutIndentation(rest, open.indentation);
        open.lines.push(code);
        open.reader?.line(code);
        continue;
      }
      blocks.push(open.early?.block ?? blockOf(open, start, false));
      open = undefined;
    }
    if (line === '' && containers.length === 0) {
      isParagraph = false;
      continue;
    }
    const rest = readContainers(line, containers, isParagraph);
    const [, blanks, fence, info] = FENCE.exec(rest) ?? [];
    // Backticks that follow on the line make inline code, not a fence.
    if (
      blanks === undefined ||
      fence === undefined ||
      info === undefined ||
      (fence.startsWith('`') && info.includes('`'))
    ) {
      isParagraph = rest.trim() !== '';
      continue;
    }
    isParagraph = false;
    const inItems = containers.reduce((sum, each) => sum + (each.quote ? 0 : each.columns), 0);
    const tag = (TAG.exec(info)?.[0] ?? '').toLowerCase();
    const block = { fence, indentation: blanks.length + inItems, info: info.trim(), tag, lines: [], start };
    // An author picks a longer fence because of the code, so it needs no reader.
    const reader = fence.length === SHORTEST ? readerOf?.(tag) : undefined;
    open = { ...block, reader, early: undefined, goesOn: false };
  }
  if (open === undefined) return blocks;
  // If nothing follows the first fence, it cut nothing off. If there is no fence, the answer itself ends too early.
  const cutIn = open.early === undefined ? open.reader?.inText() : open.goesOn ? open.early.text : undefined;
  if (cutIn !== undefined) closedEarly?.(cutIn);
  blocks.push(open.early?.block ?? blockOf(open, text.length, false));
  return blocks;
}

interface OpenBlock {
  fence: string;
  indentation: number;
  info: string;
  tag: string;
  lines: string[];
  start: number;
  reader: CodeReader | undefined;
  /** The block as its first closing fence would end it, when that fence is inside a text of the code. */
  early: { block: FencedBlock; text: string } | undefined;
  /** Whether text follows that fence. */
  goesOn: boolean;
}

function blockOf({ tag, info, fence, lines, start }: OpenBlock, end: number, closed: boolean): FencedBlock {
  return { tag, info, fence, code: lines.map((line) => `${line}\n`).join(''), closed, start, end };
}

/** An answer without the thinking that some models put before it. A block in the thinking is only a draft. */
export function withoutThinking(answer: string): string {
  return answer.replace(THINKING, '');
}

/** The line without the marks of its lists and quotes; `containers` then holds those. */
function readContainers(line: string, containers: Container[], isParagraph: boolean): string {
  let rest = withSpaces(line);
  let matched = 0;
  for (const container of containers) {
    const inner = container.quote ? afterQuote(rest) : afterIndentation(rest, container.columns);
    if (inner === undefined) break;
    rest = inner;
    matched += 1;
  }
  const opened: Container[] = [];
  while (matched + opened.length < MOST_CONTAINERS) {
    const quoted = afterQuote(rest);
    if (quoted !== undefined) {
      opened.push({ quote: true });
      rest = quoted;
      continue;
    }
    const [whole, before = '', mark = '', blanks = ''] = RULE.test(rest) ? [] : (ITEM.exec(rest) ?? []);
    if (whole === undefined) break;
    // Of more than four blanks, all but one belong to the content: it is indented code.
    const width = blanks.length > 4 || blanks === '' ? 1 : blanks.length;
    const columns = before.length + mark.length + width;
    opened.push({ quote: false, columns });
    rest = rest.slice(columns);
  }
  // A paragraph continues over lines that lack the marks of its containers.
  const isLazy = isParagraph && opened.length === 0 && rest.trim() !== '' && !FENCE.test(rest);
  if (!isLazy) containers.length = matched;
  containers.push(...opened);
  return rest;
}

/** The line within the quotes of an open block; undefined where they end. */
function withinQuotes(line: string, containers: readonly Container[]): string | undefined {
  let rest: string | undefined = line;
  for (const { quote } of containers) if (quote && rest !== undefined) rest = afterQuote(rest.trimStart());
  return rest;
}

function afterQuote(line: string): string | undefined {
  const mark = QUOTE.exec(line);
  return mark === null ? undefined : line.slice(mark[0].length);
}

function afterIndentation(line: string, columns: number): string | undefined {
  if (line.trim() === '') return '';
  return line.search(/[^ ]/) >= columns ? line.slice(columns) : undefined;
}

/** A line whose leading tabs are replaced by blanks. */
function withSpaces(line: string): string {
  const blanks = /^[ \t]*/.exec(line)?.[0] ?? '';
  if (!blanks.includes('\t')) return line;
  let columns = 0;
  for (const blank of blanks) columns = blank === '\t' ? columns + 4 - (columns % 4) : columns + 1;
  return ' '.repeat(columns) + line.slice(blanks.length);
}

/** Whether a line begins with the fence characters of an open block. */
function fenceLike(line: string, { fence }: OpenBlock): boolean {
  return line.trimStart().startsWith(fence.charAt(0).repeat(3));
}

function closes(line: string, { fence, indentation }: OpenBlock): boolean {
  const trimmed = line.trim();
  if (!trimmed.startsWith(fence) || trimmed !== fence.charAt(0).repeat(trimmed.length)) return false;
  return withSpaces(line).search(/[^ ]/) <= indentation + CLOSING_INDENTATION;
}

function withoutIndentation(line: string, indentation: number): string {
  if (indentation === 0) return line;
  const spaced = withSpaces(line);
  return spaced.slice(Math.min(spaced.search(/[^ ]|$/), indentation));
}
