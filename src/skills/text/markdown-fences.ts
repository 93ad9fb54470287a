/** A fenced code block of a Markdown text (CommonMark 0.31, §4.5). */
export interface FencedBlock {
  /** First word of the info string in lower case, without punctuation around it; empty without one. */
  tag: string;
  /** What stands behind the opening fence. */
  info: string;
  /** The lines between the fences, each with a newline. */
  code: string;
  /** Whether the closing fence is there. */
  closed: boolean;
}

const OPENING = /^([^\S\n]*(?:(?:[-*+]|\d{1,9}[.)])[^\S\n]+)*)(`{3,}|~{3,})([^]*)$/;
/** A closing fence that is indented further than this belongs to the code. */
const CLOSING_INDENTATION = 3;
const THINKING = /^\s*<(think|thinking|reasoning)>[\s\S]*?<\/\1>/;
const TAG = /[\p{L}\p{N}][\p{L}\p{N}+#_-]*/u;

/**
 * Finds the fenced code blocks of a text. A fence closes with the same character, at least as many of it and nothing
 * else on the line, so that a longer fence may hold shorter ones. Fences may be indented, as in lists: the indentation
 * of the opening fence is taken off the lines of its block.
 *
 * @param text an answer of a model
 * @returns the blocks, in order
 */
export function findFencedBlocks(text: string): FencedBlock[] {
  const blocks: FencedBlock[] = [];
  let open: OpenBlock | undefined;
  for (const line of text.split(/\r\n|\r|\n/)) {
    if (open !== undefined) {
      if (closes(line, open)) {
        blocks.push(blockOf(open, true));
        open = undefined;
      } else open.lines.push(withoutIndentation(line, open.indentation));
      continue;
    }
    const [, before, fence, info] = OPENING.exec(line) ?? [];
    if (before === undefined || fence === undefined || info === undefined) continue;
    // Backticks after backticks are inline code, not a fence.
    if (fence.startsWith('`') && info.includes('`')) continue;
    open = { fence, indentation: before.length, info: info.trim(), lines: [] };
  }
  if (open !== undefined) blocks.push(blockOf(open, false));
  return blocks;
}

interface OpenBlock {
  fence: string;
  indentation: number;
  info: string;
  lines: string[];
}

function blockOf({ info, lines }: OpenBlock, closed: boolean): FencedBlock {
  return { tag: (TAG.exec(info)?.[0] ?? '').toLowerCase(), info, code: join(lines), closed };
}

/** An answer without the thinking that some models put before it; a block in there is a draft. */
export function withoutThinking(answer: string): string {
  return answer.replace(THINKING, '');
}

function closes(line: string, { fence, indentation }: { fence: string; indentation: number }): boolean {
  const trimmed = line.trim();
  const blanks = line.length - line.trimStart().length;
  if (blanks > indentation + CLOSING_INDENTATION) return false;
  return trimmed.length >= fence.length && trimmed === fence.charAt(0).repeat(trimmed.length);
}

function withoutIndentation(line: string, indentation: number): string {
  const blanks = line.length - line.trimStart().length;
  return line.slice(Math.min(blanks, indentation));
}

function join(lines: string[]): string {
  return lines.map((line) => `${line}\n`).join('');
}
