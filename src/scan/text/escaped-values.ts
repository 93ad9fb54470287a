import { readFrontMatter } from '../../skills/parse/front-matter.ts';
import { isScalar } from '../../skills/parse/lazy-yaml.ts';
import { entriesOf, itemsOf } from '../../skills/parse/yaml-values.ts';
import type { TextRange } from './text-ranges.ts';

/** A text of the frontmatter that is written with escapes. */
export interface EscapedValue {
  value: string;
  /** As it is written. */
  source: string;
  /** Where it begins in the file. */
  at: number;
}

const ESCAPE = /\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([abe]))/g;
const ANY_ESCAPE = /\\[^"\\/ t]/;
const BY_LETTER: Readonly<Record<string, number>> = { a: 0x07, b: 0x08, e: 0x1b };

/**
 * Gives the keys and values of the frontmatter that are written with escapes, as YAML reads them. Of a frontmatter that cannot be read, which
 * other systems may read, it gives the whole with its escapes resolved.
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
  return scalarsOf(read.root).flatMap(({ value, range }) => {
    const source = text.slice(from + range[0], from + range[1]);
    return source.startsWith('"') && ANY_ESCAPE.test(source) ? [{ value, source, at: from + range[0] }] : [];
  });
}

/** Every key and value that is a text. Goes without recursion: the nesting is the author's. */
function scalarsOf(root: unknown): { value: string; range: readonly [number, number, number] }[] {
  const found: { value: string; range: readonly [number, number, number] }[] = [];
  const pending = [root];
  while (pending.length > 0) {
    const node = pending.pop();
    const range = isScalar(node) ? node.range : undefined;
    if (isScalar(node) && typeof node.value === 'string' && range) found.push({ value: node.value, range });
    for (const { keyNode, node: value } of entriesOf(node) ?? []) pending.push(keyNode, value);
    for (const item of itemsOf(node) ?? []) pending.push(item);
  }
  return found;
}

function resolved(block: string): string {
  const escape = (whole: string, two?: string, four?: string, eight?: string, letter?: string): string => {
    const code = BY_LETTER[letter ?? ''] ?? Number.parseInt(two ?? four ?? eight ?? '', 16);
    return code <= 0x10ffff ? String.fromCodePoint(code) : whole;
  };
  return block.replaceAll('\\\n', '').replace(ESCAPE, escape);
}
