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
 * dotless ı has no other case form in folding, and a final sigma is a sigma. Each character is folded alone: a text that
 * holds another holds it folded, too.
 */
export function foldCase(text: string): string {
  if (isAscii(text)) return text.toLowerCase();
  return text
    .toLowerCase()
    .replace(/[^ı]+/gu, (part) => part.toUpperCase().toLowerCase())
    .replaceAll('ς', 'σ');
}
