import { type DoubleQuoted, doubleQuotedIn } from '../../skills/parse/yaml/double-quoted.ts';
import { readFrontMatter } from '../../skills/parse/front-matter.ts';
import type { TextRange } from './text-ranges.ts';

/** A text of the frontmatter that is written with escapes; `at` is its place in the file. */
export type EscapedValue = DoubleQuoted;

const ESCAPE = /\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([abe]))/g;
const ANY_ESCAPE = /\\[^"\\/ t]/;
const BY_LETTER: Readonly<Record<string, number>> = { a: 0x07, b: 0x08, e: 0x1b };

/**
 * Returns the keys and values of the frontmatter that are written with escapes, as YAML reads them. If the frontmatter is
 * invalid, other systems may still read it, so its whole text is returned with escapes resolved.
 *
 * @param text a SKILL.md
 */
export function escapedValues(text: string, frontMatter: TextRange): EscapedValue[] {
  const block = text.slice(0, frontMatter.end);
  const first = block.search(ANY_ESCAPE);
  if (first < 0) return [];
  const read = readFrontMatter(text, { recover: false });
  if (!read.ok) return [{ value: resolved(block), source: block, at: first }];
  const from = text.indexOf('\n') + 1;
  return doubleQuotedIn(read.root, read.block).flatMap(({ value, source, at }) =>
    ANY_ESCAPE.test(source) ? [{ value, source, at: from + at }] : [],
  );
}

function resolved(block: string): string {
  const escape = (whole: string, two?: string, four?: string, eight?: string, letter?: string): string => {
    const code = BY_LETTER[letter ?? ''] ?? Number.parseInt(two ?? four ?? eight ?? '', 16);
    return code <= 0x10ffff ? String.fromCodePoint(code) : whole;
  };
  return block.replaceAll('\\\n', '').replace(ESCAPE, escape);
}
