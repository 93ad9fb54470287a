import { doubleQuotedIn } from '../../skills/parse/yaml/double-quoted.ts';
import { readFrontMatter } from '../../skills/parse/front-matter.ts';
import { HIDDEN_EACH } from '../../skills/text/hidden-characters.ts';
import { type FileLines, readText } from './file-lines.ts';
import type { TextChange } from './text-change.ts';

/** An escape of one character, or a backslash with any other character. */
const ESCAPE = /\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|[^])/g;

/** Removes escapes of invisible characters from the frontmatter. */
export function removeHiddenEscapes(file: FileLines): TextChange[] {
  const read = readFrontMatter(readText(file), { recover: false });
  if (!read.ok) return [];
  const counts = new Map<number, number>();
  // From last to first, so that earlier offsets stay valid.
  for (const { source, at } of doubleQuotedIn(read.root, read.block).toReversed()) {
    for (const { start, end } of hiddenEscapes(source)) {
      const before = read.block.slice(0, at + start);
      const lineStart = before.lastIndexOf('\n') + 1;
      const index = before.split('\n').length;
      const line = file.lines[index] ?? '';
      file.lines[index] = line.slice(0, at + start - lineStart) + line.slice(at + end - lineStart);
      counts.set(index, (counts.get(index) ?? 0) + 1);
    }
  }
  return [...counts]
    .toSorted(([one], [other]) => one - other)
    .map(([index, count]) => ({
      line: index + 1,
      what: `removed ${count} hidden ${count === 1 ? 'character' : 'characters'} written as ${count === 1 ? 'an escape' : 'escapes'}`,
    }));
}

/** Ranges of escapes of hidden characters, last first. The neighbours of a joiner decide whether it is visible. */
function hiddenEscapes(source: string): { start: number; end: number }[] {
  let units = unitsOf(source);
  const hidden: { start: number; end: number }[] = [];
  for (let count = -1; count !== units.length;) {
    count = units.length;
    const text = units.map(({ character }) => character).join('');
    const found = new Set([...text.matchAll(HIDDEN_EACH())].map(({ index }) => index));
    let offset = 0;
    units = units.filter(({ character, start, end, isEscape }) => {
      const isHidden = isEscape && found.has(offset);
      offset += character.length;
      if (isHidden) hidden.push({ start, end });
      return !isHidden;
    });
  }
  return hidden.toSorted((one, other) => other.start - one.start);
}

interface Unit {
  character: string;
  start: number;
  end: number;
  isEscape: boolean;
}

/** The characters of a text, each with the range of its spelling. */
function unitsOf(source: string): Unit[] {
  const units: Unit[] = [];
  let end = 0;
  const addPlain = (to: number): void => {
    if (to > end) units.push({ character: source.slice(end, to), start: end, end: to, isEscape: false });
  };
  for (const { index, 0: escape, 1: two, 2: four, 3: eight } of source.matchAll(ESCAPE)) {
    addPlain(index);
    end = index + escape.length;
    const code = Number.parseInt(two ?? four ?? eight ?? '', 16);
    const isEscape = code <= 0x10ffff;
    units.push({ character: isEscape ? String.fromCodePoint(code) : escape, start: index, end, isEscape });
  }
  addPlain(source.length);
  return units;
}
