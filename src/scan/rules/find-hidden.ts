import { hiddenRuns } from '../text/hidden-runs.ts';
import type { FoundInFile } from '../scan-finding.ts';
import type { ScannedFile } from '../scanned-file.ts';

/** A run of this length carries a message; shorter runs come from word processors. */
const MESSAGE_LENGTH = 4;
const BIDI = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/;
/** These override the order of text. */
const REORDERING = /[\u202a-\u202e\u2066-\u2069]/g;
const TAGS = /[\u{e0020}-\u{e007e}]/gu;
/** Letters of right-to-left scripts, in which marks of direction are legitimate. */
const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/;
/** Controls that terminals obey: escape, bell, backspace, and 8-bit controls without the line end among them. */
// oxlint-disable-next-line no-control-regex -- the pattern looks for controls
const CONTROLS = /[\u0007\u0008\u001b\u0080-\u0084\u0086-\u009f]/g;

/** Finds invisible characters, characters that change the order of shown text, and characters that terminals obey. */
export function* findHidden({ text, isAscii, escaped }: ScannedFile): Generator<FoundInFile> {
  yield* hiddenIn(text, isAscii);
  for (const { value, source, at } of escaped())
    for (const found of hiddenIn(value, false))
      // Characters that the source itself holds are already found in the text.
      if (!source.includes(String.fromCodePoint(value.codePointAt(found.at ?? 0) ?? 0)))
        yield { ...found, message: `${found.message} It is written with escapes.`, at };
}

function* hiddenIn(text: string, isAscii: boolean): Generator<FoundInFile> {
  for (const at of oneALine(text, CONTROLS))
    yield { code: 'scan.terminal', message: `A control character that terminals obey: ${named(text, at)}.`, at };
  if (isAscii) return;
  const isRightToLeft = RIGHT_TO_LEFT.test(text);
  for (const { start, end } of hiddenRuns(text)) {
    const run = text.slice(start, end);
    const characters = [...run];
    const spelt = (run.match(TAGS) ?? [])
      .map((tag) => String.fromCharCode((tag.codePointAt(0) ?? 0) - 0xe0000))
      .join('');
    if (spelt !== '') {
      const message = `${characters.length} hidden characters spell ${JSON.stringify(spelt)}.`;
      yield { code: 'scan.hidden-message', message, at: start };
    } else if (characters.length >= MESSAGE_LENGTH && !isRightToLeft) {
      const message = `${characters.length} hidden characters stand in a row.`;
      yield { code: 'scan.hidden-message', message, at: start };
    } else if (run.search(REORDERING) < 0 && !(isRightToLeft && characters.every((each) => BIDI.test(each)))) {
      yield {
        code: 'scan.hidden-text',
        message: `An invisible character: ${named(text, start)}.`,
        at: start,
      };
    }
  }
  for (const at of oneALine(text, REORDERING))
    yield { code: 'scan.bidi', message: `A character changes the order of the shown text: ${named(text, at)}.`, at };
}

/** First match on each line. */
function* oneALine(text: string, pattern: RegExp): Generator<number> {
  let lineEnd = -1;
  for (const { index } of text.matchAll(pattern)) {
    if (index < lineEnd) continue;
    yield index;
    const newline = text.indexOf('\n', index);
    lineEnd = newline < 0 ? text.length : newline;
  }
}

function named(text: string, at: number): string {
  return `U+${(text.codePointAt(at) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;
}
