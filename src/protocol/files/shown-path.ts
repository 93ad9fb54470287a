import { hidesInName, replaceHiddenInName } from '../../contracts/text/hidden-in-names.ts';
import { relativePathFault } from '../../contracts/text/relative-path.ts';

const CONTROL_EACH = /[\p{Cc}\p{Cs}]/gu;
const SHOWN_CHARACTERS = 1_000;

/** Says why a name does not show what it is, or `undefined` when it does. */
export function invisibleFault(path: string): string | undefined {
  return hidesInName(path) ? 'bidirectional, zero-width or other invisible character in the name' : undefined;
}

/** Says what is wrong with a relative path that people will read, or `undefined` when it may become the name of a file. */
export function shownPathFault(path: string): string | undefined {
  return relativePathFault(path) ?? invisibleFault(path);
}

/** A name for people and JSON: what they would not see as escapes, and not longer than a screen takes. */
export function printablePath(path: string): string {
  const shown = replaceHiddenInName(path, escaped).replace(CONTROL_EACH, escaped);
  return shown.length > SHOWN_CHARACTERS ? `${shown.slice(0, SHOWN_CHARACTERS - 1)}…` : shown;
}

function escaped(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  return code < 256 ? `\\x${code.toString(16).padStart(2, '0')}` : `\\u{${code.toString(16)}}`;
}
