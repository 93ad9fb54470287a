import { readFrontMatter } from '../../skills/parse/front-matter.ts';
import { repairBlock } from '../../skills/parse/yaml/repair-block.ts';
import { type FileLines, readText } from './file-lines.ts';
import type { TextChange } from './text-change.ts';

/** A key and a value on one line that is invalid YAML, because the value begins with a special character. */
const ODD_VALUE = /^([ \t]*(?:- )?[\p{L}\p{N}_.-]+:[ \t]+)([@`%*&!}\],].*)$/u;
/** A value that begins like a list or a map, under a key that needs a text. */
const ODD_TEXT = /^((?:description|displayName|brief_description):[ \t]+)([[{].*)$/;
/** A blank and a number sign may begin a comment; the intention is unclear, so such values stay. */
const COMMENT = /[ \t]#/;

/**
 * Puts values in quotes that YAML refuses but other readers accept as text. If the frontmatter stays invalid, nothing changes.
 *
 * @param file lines of a SKILL.md without byte order mark
 */
export function quoteValues(file: FileLines): TextChange[] {
  const before = [...file.lines];
  const changed = new Set<number>();
  // Each round fixes at least one line, or is the last.
  for (let turn = 0; turn <= before.length; turn += 1) {
    const strict = readFrontMatter(readText(file), { recover: false });
    if (strict.ok) return [...changed].toSorted((a, b) => a - b).map((index) => quoted(file, index));
    const lenient = readFrontMatter(readText(file), { recover: true });
    const mended = lenient.ok ? repairLines(file, lenient.block) : quoteLine(file, strict.diagnostics[0]?.line);
    if (mended.length === 0) break;
    for (const index of mended) changed.add(index);
  }
  file.lines.splice(0, file.lines.length, ...before);
  return [];
}

function quoted({ lines }: FileLines, index: number): TextChange {
  const key = /^[^:]*:/
    .exec(lines[index] ?? '')?.[0]
    .slice(0, -1)
    .replace(/^[ \t-]+/, '');
  const what =
    key === undefined ? 'indented a value that continues on the next lines' : `put the value of ${key} in quotes`;
  return { line: index + 1, what: lines[index] === '' ? 'joined with the line above, in quotes' : what };
}

/** Applies the reader's own repair, which keeps line numbers. */
function repairLines(file: FileLines, block: string): number[] {
  const changed: number[] = [];
  for (const [at, line] of repairBlock(block).split('\n').entries()) {
    const index = at + 1;
    if (at >= block.split('\n').length - 1 || file.lines[index] === line) continue;
    file.lines[index] = line;
    changed.push(index);
  }
  return changed;
}

function quoteLine(file: FileLines, faulty: number | undefined): number[] {
  const index = (faulty ?? 0) - 1;
  const line = file.lines[index] ?? '';
  const [, before, value] = ODD_VALUE.exec(line) ?? ODD_TEXT.exec(line) ?? [];
  if (before === undefined || value === undefined || COMMENT.test(value)) return [];
  file.lines[index] = `${before}${JSON.stringify(value.trimEnd())}`;
  return [index];
}
