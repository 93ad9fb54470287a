import { relativePathFault } from '../contracts/relative-path.ts';

/**
 * What a reader does not see in a name, or what changes how the rest of it looks: marks of direction, zero-width and other
 * invisible characters (Unicode's default-ignorable ones) and separators of lines. The selector that makes an emoji colourful
 * stays after an emoji.
 */
const INVISIBLE = /(?!(?<=\p{Extended_Pictographic})\ufe0f)[\p{Cf}\p{Default_Ignorable_Code_Point}\p{Zl}\p{Zp}]/u;
const INVISIBLE_EACH = new RegExp(`[\\p{Cc}\\p{Cs}]|${INVISIBLE.source}`, 'gu');
const SHOWN_CHARACTERS = 1_000;

/** Says why a name does not show what it is, or `undefined` when it does: `\u202etxt.exe` reads as `exe.txt`. */
export function invisibleFault(path: string): string | undefined {
  return INVISIBLE.test(path) ? 'bidirectional, zero-width or other invisible character in the name' : undefined;
}

/** Says what is wrong with a relative path that people will read, or `undefined` when it may become the name of a file. */
export function shownPathFault(path: string): string | undefined {
  return relativePathFault(path) ?? invisibleFault(path);
}

/** A name for people and JSON: what they would not see as escapes, and not longer than a screen takes. */
export function printablePath(path: string): string {
  const shown = path.replace(INVISIBLE_EACH, (character) => {
    const code = character.codePointAt(0) ?? 0;
    return code < 256 ? `\\x${code.toString(16).padStart(2, '0')}` : `\\u{${code.toString(16)}}`;
  });
  return shown.length > SHOWN_CHARACTERS ? `${shown.slice(0, SHOWN_CHARACTERS - 1)}…` : shown;
}
