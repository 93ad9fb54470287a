import { codePointLength, hiddenAt, removeHidden } from '../../skills/text/text.ts';
import type { FileLines } from './file-lines.ts';
import type { TextChange } from './text-change.ts';

/** Takes out of each line what cannot be seen and would be left out of every prompt. */
export function removeHiddenCharacters(file: FileLines): TextChange[] {
  const changes: TextChange[] = [];
  for (const [index, before] of file.lines.entries()) {
    let line = before;
    // What stands beside a joiner decides whether it is one that is seen.
    while (hiddenAt(line) >= 0) line = removeHidden(line);
    if (line === before) continue;
    const count = codePointLength(before) - codePointLength(line);
    file.lines[index] = line;
    changes.push({ line: index + 1, what: `removed ${count} hidden ${count === 1 ? 'character' : 'characters'}` });
  }
  return changes;
}
