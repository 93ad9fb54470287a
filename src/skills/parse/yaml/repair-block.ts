import { latePattern } from '../../text/words/late-pattern.ts';

/** A line of block YAML: indentation, dashes of list items, a key if it has one, and the rest. */
const LINE = latePattern(() => /^([ \t]*)((?:[-?][ \t]+)*)(?:([\p{L}\p{M}\p{N}_.-]+)[ \t]*:(?=[ \t]|$)[ \t]*)?(.*)$/su);
/** Anchor and tag in front of a value. */
const PROPERTIES = /^(?:[&!]\S*[ \t]+)*/;
/** Values that may span several lines; the repair leaves them alone. */
const OWN_BORDERS = /^["'[{|>]/;
/** Values that are not plain text. */
const NOT_PLAIN = /^["'[{|>&*!%@#`]/;
/** From the start of a line inside a text up to the quote that closes the text. */
const CLOSING_DOUBLE = /^(?:[^"\\]|\\.)*"/s;
const CLOSING_SINGLE = /^(?:[^']|'')*'(?!')/;
const COMMENT = /(?:^|[ \t])#.*$/s;
const COLON_BEFORE_BLANK = /:(?:[ \t]|$)/m;

/**
 * Repairs a broken YAML block that other readers accept. Plain values that hold a colon before a blank or at their end are
 * quoted, each with its deeper-indented continuation lines, folded as YAML folds them. Quoted values that continue no
 * deeper than their key are indented. Flow and block values are left alone. Lines keep their numbers.
 *
 * @param block the text between the fences
 * @returns the repaired block; the same text if there is nothing to repair
 */
export function repairBlock(block: string): string {
  const lines = block.split('\n');
  const out: string[] = [];
  for (let at = 0; at < lines.length;) {
    const line = lines[at] ?? '';
    const [, indentation = '', dashes = '', key, rest = ''] = LINE().exec(line) ?? [];
    const column = indentation.length + (key === undefined ? dashes.replace(/[-?][ \t]+$/, '').length : dashes.length);
    const owner = key !== undefined || dashes !== '';
    const value = rest.replace(PROPERTIES, '');
    const quotedEnd = key === undefined ? undefined : closingLine(lines, at, value);
    if (quotedEnd !== undefined) {
      out.push(line, ...lines.slice(at + 1, quotedEnd + 1).map((next) => indented(next, column)));
      at = quotedEnd + 1;
      continue;
    }
    let next = at + 1;
    if (owner && OWN_BORDERS.test(value)) {
      while (next < lines.length && belongsTo(lines[next] ?? '', column)) next += 1;
    } else if (key !== undefined && rest !== '' && !NOT_PLAIN.test(rest)) {
      const plain = plainValue(lines, at, rest, column);
      if (COLON_BEFORE_BLANK.test(plain.text)) {
        out.push(`${line.slice(0, line.length - rest.length)}${JSON.stringify(plain.text)}${plain.comment}`);
        for (next = at + 1; next < plain.end; next += 1) out.push('');
        at = next;
        continue;
      }
    }
    out.push(...lines.slice(at, next));
    at = next;
  }
  return out.join('\n');
}

/** The line that closes a quoted value; undefined for other values, and if the value closes on its own line or never. */
function closingLine(lines: readonly string[], first: number, value: string): number | undefined {
  const closing = value.startsWith('"') ? CLOSING_DOUBLE : value.startsWith("'") ? CLOSING_SINGLE : undefined;
  if (closing === undefined || closing.test(value.slice(1))) return undefined;
  // Each line can be checked alone: a final backslash escapes the line end, and a line break never splits a doubled quote.
  const end = lines.findIndex((line, index) => index > first && closing.test(line));
  return end < 0 ? undefined : end;
}

/** Indents a line. YAML drops the blanks at the beginning of a line. */
function indented(line: string, column: number): string {
  return belongsTo(line, column) ? line : `${' '.repeat(column + 1)}${line}`;
}

/** Collects a plain value from its first line on; a comment ends it. */
function plainValue(
  lines: string[],
  at: number,
  first: string,
  column: number,
): { text: string; comment: string; end: number } {
  let comment = COMMENT.exec(first)?.[0] ?? '';
  let text = first.slice(0, first.length - comment.length).trimEnd();
  let end = at + 1;
  let breaks = 1;
  for (let next = end; next < lines.length && comment === ''; next += 1) {
    const line = lines[next] ?? '';
    if (!belongsTo(line, column)) break;
    const trimmed = line.trim();
    if (trimmed === '') {
      breaks += 1;
      continue;
    }
    if (trimmed.startsWith('#')) break;
    comment = COMMENT.exec(trimmed)?.[0] ?? '';
    text +=
      (breaks === 1 ? ' ' : '\n'.repeat(breaks - 1)) + trimmed.slice(0, trimmed.length - comment.length).trimEnd();
    breaks = 1;
    end = next + 1;
  }
  return { text, comment, end };
}

function belongsTo(line: string, column: number): boolean {
  // A tab is a blank, but it does not indent.
  return line.trim() === '' || line.search(/[^ ]/) > column;
}
