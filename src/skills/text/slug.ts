import { withoutEnd } from '../../contracts/text/without-end.ts';
import { latePattern } from './words/late-pattern.ts';
import { codePointLength, hasHidden } from './text.ts';

const SLUG_LIMIT = 64;
/** Tried first: the first use of a Unicode class compiles it, which takes a millisecond. */
const ASCII_SLUG = /^[a-z0-9]+(?:-[a-z0-9]+)*$/;
const SLUG = latePattern(() => /^[\p{L}\p{M}\p{N}]+(?:-[\p{L}\p{M}\p{N}]+)*$/u);
const NO_SLUG_CHARACTERS = latePattern(() => /[^\p{L}\p{M}\p{N}]+/gu);
const NO_SLUG_CHARACTER = latePattern(() => /[^\p{L}\p{M}\p{N}]/u);

/** The id made from a folder name. */
export interface FolderId {
  /** Empty when no character of the name can be used. */
  id: string;
  /** Whether the name had to be changed beyond NFKC. */
  slugged: boolean;
}

/**
 * Makes a skill's id from its folder name: NFKC, then a slug of letters, marks and digits of any script with single inner
 * hyphens, lower case, at most 64 code points. Invisible marks are removed, so two folders whose names look alike get
 * one id, and the second is reported.
 *
 * @param folderName name of the skill folder
 * @returns the id, and whether it differs from the name
 */
export function folderId(folderName: string): FolderId {
  const name = folderName.normalize('NFKC');
  if (isSlug(name)) return { id: name, slugged: false };
  const visible = [...name.toLowerCase().normalize('NFKC')]
    .map((character) => (isHidden(character) ? ' ' : character))
    .join('');
  const joined = trimHyphens(visible.replace(NO_SLUG_CHARACTERS(), '-'));
  return { id: trimHyphens([...joined].slice(0, SLUG_LIMIT).join('')), slugged: true };
}

/**
 * Tells whether a text is a skill id.
 *
 * @param text normalized text
 * @returns true for a slug
 */
export function isSlug(text: string): boolean {
  if (ASCII_SLUG.test(text)) return text.length <= SLUG_LIMIT;
  return SLUG().test(text) && text === text.toLowerCase() && codePointLength(text) <= SLUG_LIMIT && !hasHidden(text);
}

function isHidden(character: string): boolean {
  return NO_SLUG_CHARACTER().test(character) || hasHidden(character);
}

function trimHyphens(text: string): string {
  return withoutEnd(text.replace(/^-+/, ''), '-');
}
