import { isDeepStrictEqual } from 'node:util';
import { decodeText } from '../../skills/text/decode-text.ts';
import { parseSkillMarkdown } from '../../skills/parse/parse-skill.ts';
import { codePointLength, hiddenAt, removeHidden } from '../../skills/text/text.ts';
import { type FileLines, fileLines, joinedText } from './file-lines.ts';
import { quoteValues } from './quote-values.ts';
import { removeHiddenEscapes } from './remove-hidden-escapes.ts';
import { setName, type SetNameOptions } from './set-name.ts';
import type { TextChange } from './text-change.ts';

/** A SKILL.md with the changes that were made in it. */
export interface FixedText {
  bytes: Uint8Array;
  changes: TextChange[];
}

/**
 * Fixes a SKILL.md where only one fix is possible: byte order mark, hidden characters, quotes that YAML needs, the name. All
 * other bytes stay, also line ends, and so does the meaning of the file.
 *
 * @param bytes the whole file
 * @returns the same bytes if there is nothing to fix or the file is not text
 */
export function fixSkillText(bytes: Uint8Array, options: SetNameOptions): FixedText {
  const decoded = decodeText(bytes);
  if ('fault' in decoded) return { bytes, changes: [] };
  const text = Buffer.from(bytes).toString();
  const changes: TextChange[] = decoded.byteOrderMark ? [{ line: 1, what: 'removed the byte order mark' }] : [];
  let file = fileLines(decoded.byteOrderMark ? text.slice(1) : text);
  const steps = [
    removeHiddenCharacters,
    quoteValues,
    removeHiddenEscapes,
    (lines: FileLines) => setName(lines, options),
  ];
  for (const step of steps) {
    const next = { lines: [...file.lines], ends: [...file.ends] };
    const made = step(next);
    // A step that would change more than it reports is skipped.
    if (made.length === 0 || !saysTheSame(joinedText(file), joinedText(next), options.folder)) continue;
    changes.push(...made);
    file = next;
  }
  return changes.length === 0 ? { bytes, changes } : { bytes: Buffer.from(joinedText(file)), changes };
}

/** Fixes a file that is only text: it removes hidden characters. A byte order mark stays. */
export function fixPlainText(bytes: Uint8Array): FixedText {
  const decoded = decodeText(bytes);
  if ('fault' in decoded) return { bytes, changes: [] };
  const file = fileLines(
    Buffer.from(bytes)
      .toString()
      .slice(decoded.byteOrderMark ? 1 : 0),
  );
  const changes = removeHiddenCharacters(file);
  if (changes.length === 0) return { bytes, changes };
  const mark = decoded.byteOrderMark ? '\uFEFF' : '';
  return { bytes: Buffer.from(mark + joinedText(file)), changes };
}

/** Whether a fixed file has the same content as the old one, except for the name and invisible characters. */
function saysTheSame(before: string, after: string, folder: string): boolean {
  const [old, fixed] = [before, after].map((text) =>
    parseSkillMarkdown(Buffer.from(text), { folder, tryPatterns: false }),
  );
  if (old === undefined || fixed === undefined || !old.readable) return true;
  const told = ({ fields, extra, body }: typeof old): unknown => {
    const { name: _name, displayName: _shown, ...others } = fields;
    return JSON.parse(removeHidden(JSON.stringify({ others, extra, body })));
  };
  return fixed.readable && isDeepStrictEqual(told(old), told(fixed));
}

/** Removes the invisible characters of each line that would be left out of every prompt. */
function removeHiddenCharacters(file: FileLines): TextChange[] {
  const changes: TextChange[] = [];
  for (const [index, before] of file.lines.entries()) {
    let line = before;
    // The neighbours of a joiner decide whether it is visible, so each removal may reveal another hidden one.
    while (hiddenAt(line) >= 0) line = removeHidden(line);
    if (line === before) continue;
    const count = codePointLength(before) - codePointLength(line);
    file.lines[index] = line;
    changes.push({ line: index + 1, what: `removed ${count} hidden ${count === 1 ? 'character' : 'characters'}` });
  }
  return changes;
}
