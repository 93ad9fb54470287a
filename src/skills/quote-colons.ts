/** A line of block YAML: indentation, dashes of list items, a key if it has one, and the rest. */
const LINE = /^([ \t]*)((?:[-?][ \t]+)*)(?:([\p{L}\p{M}\p{N}_.-]+)[ \t]*:(?=[ \t]|$)[ \t]*)?(.*)$/su;
/** Anchor and tag in front of a value. */
const PROPERTIES = /^(?:[&!]\S*[ \t]+)*/;
/** Values that may go on for several lines and that the recovery leaves alone. */
const OWN_BORDERS = /^["'[{|>]/;
/** Values that are no plain text. */
const NOT_PLAIN = /^["'[{|>&*!%@#`]/;
const COMMENT = /(?:^|[ \t])#.*$/s;
const COLON_BEFORE_BLANK = /:(?:[ \t]|$)/m;

/**
 * Quotes the plain values of a broken YAML block that hold a colon before a blank or at their end. Each value is
 * taken with its deeper-indented continuation lines, folded as YAML folds them. Quoted, flow and block values are
 * left alone. Line numbers stay.
 *
 * @param block the text between the fences
 * @returns the block with quoted values; the same text if there is nothing to quote
 */
export function quoteColons(block: string): string {
  const lines = block.split('\n');
  const out: string[] = [];
  for (let at = 0; at < lines.length;) {
    const line = lines[at] ?? '';
    const [, indentation = '', dashes = '', key, rest = ''] = LINE.exec(line) ?? [];
    const column = indentation.length + (key === undefined ? dashes.replace(/[-?][ \t]+$/, '').length : dashes.length);
    const owner = key !== undefined || dashes !== '';
    let next = at + 1;
    if (owner && OWN_BORDERS.test(rest.replace(PROPERTIES, ''))) {
      while (next < lines.length && belongsTo(lines[next] ?? '', column)) next += 1;
    } else if (key !== undefined && rest !== '' && !NOT_PLAIN.test(rest)) {
      const value = plainValue(lines, at, rest, column);
      if (COLON_BEFORE_BLANK.test(value.text)) {
        out.push(`${line.slice(0, line.length - rest.length)}${JSON.stringify(value.text)}${value.comment}`);
        for (next = at + 1; next < value.end; next += 1) out.push('');
        at = next;
        continue;
      }
    }
    out.push(...lines.slice(at, next));
    at = next;
  }
  return out.join('\n');
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
  const indentation = line.search(/[^ \t]/);
  return indentation < 0 || indentation > column;
}
