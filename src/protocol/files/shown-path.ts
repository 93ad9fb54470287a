import { hidesInName, replaceHiddenInName } from '../../contracts/text/hidden-in-names.ts';
import { relativePathFault } from '../../contracts/text/relative-path.ts';

const CONTROL_EACH = /[\p{Cc}\p{Cs}]/gu;
const SHOWN_CHARACTERS = 1_000;

/** The fault of a name with hidden characters, or `undefined`. */
export function invisibleFault(path: string): string | undefined {
  return hidesInName(path) ? 'bidirectional, zero-width or other invisible character in the name' : undefined;
}

/** The fault of a relative path that people will read, or `undefined` if it is valid. */
export function shownPathFault(path: string): string | undefined {
  return relativePathFault(path) ?? invisibleFault(path);
}

/** A name for people and JSON: with escapes for hidden and control characters, and at most 1,000 characters long. */
export function printablePath(path: string): string {
  const shown = replaceHiddenInName(path, escaped).replace(CONTROL_EACH, escaped);
  return shown.length > SHOWN_CHARACTERS ? `${shown.slice(0, SHOWN_CHARACTERS - 1)}…` : shown;
}

function escaped(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  return code < 256 ? `\\x${code.toString(16).padStart(2, '0')}` : `\\u{${code.toString(16)}}`;
}
