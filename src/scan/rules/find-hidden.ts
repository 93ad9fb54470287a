import { hiddenRuns } from '../text/hidden-runs.ts';
import type { FoundInFile } from '../scan-finding.ts';
import type { ScannedFile } from '../scanned-file.ts';

/** This many in a row say something; fewer come from word processors. */
const MESSAGE_LENGTH = 4;
const BIDI = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/;
/** These turn the order of text round by force. */
const REORDERING = /[\u202a-\u202e\u2066-\u2069]/g;
const TAGS = /[\u{e0020}-\u{e007e}]/gu;
/** In these, marks of direction have work to do. */
const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/;

/** Finds characters that nobody sees, and those that change the order in which others are shown. */
export function findHidden({ text, isAscii }: ScannedFile): FoundInFile[] {
  if (isAscii) return [];
  const found: FoundInFile[] = [];
  const isRightToLeft = RIGHT_TO_LEFT.test(text);
  for (const { start, end } of hiddenRuns(text)) {
    const run = text.slice(start, end);
    const characters = [...run];
    const spelt = (run.match(TAGS) ?? [])
      .map((tag) => String.fromCharCode((tag.codePointAt(0) ?? 0) - 0xe0000))
      .join('');
    if (spelt !== '') {
      const message = `${characters.length} hidden characters spell ${JSON.stringify(spelt)}.`;
      found.push({ code: 'scan.hidden-message', message, at: start });
    } else if (characters.length >= MESSAGE_LENGTH && !isRightToLeft) {
      found.push({
        code: 'scan.hidden-message',
        message: `${characters.length} hidden characters stand in a row.`,
        at: start,
      });
    } else if (run.search(REORDERING) < 0 && !(isRightToLeft && characters.every((each) => BIDI.test(each)))) {
      const code = (characters[0]?.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
      found.push({
        code: 'scan.hidden-text',
        message: `A character that nobody sees stands here: U+${code}.`,
        at: start,
      });
    }
  }
  let lineEnd = -1;
  for (const { index, 0: character } of text.matchAll(REORDERING)) {
    if (index < lineEnd) continue;
    const code = (character.codePointAt(0) ?? 0).toString(16).toUpperCase();
    found.push({ code: 'scan.bidi', message: `A character changes the order of what is shown: U+${code}.`, at: index });
    const newline = text.indexOf('\n', index);
    lineEnd = newline < 0 ? text.length : newline;
  }
  return found;
}
