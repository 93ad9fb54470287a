import { isAscii } from './ascii.ts';

/**
 * Folds a text for comparison: NFKC, case folding, every run of blanks one blank, no blanks at the ends.
 *
 * @param text any text
 * @returns the folded text
 */
export function foldText(text: string): string {
  const folded = isAscii(text) ? text.toLowerCase() : foldCase(text.normalize('NFKC')).normalize('NFKC');
  return folded.replace(/\s+/g, ' ').trim();
}

/**
 * Case folding by the mappings that JavaScript has: upper case expands (`ß` to `SS`), lower case settles it. A
 * dotless ı has no other case form in folding, and a final sigma is a sigma.
 */
function foldCase(text: string): string {
  return text
    .toLowerCase()
    .replace(/[^ı]+/gu, (part) => part.toUpperCase().toLowerCase())
    .replaceAll('ς', 'σ');
}
