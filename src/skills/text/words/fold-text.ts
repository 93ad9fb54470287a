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
 * Case folding with the mappings of JavaScript: upper case expands (`ß` to `SS`), lower case unifies. Folding keeps a
 * dotless ı and turns a final sigma into a sigma. Each character is folded alone, so folding preserves containment of one
 * text in another.
 */
export function foldCase(text: string): string {
  if (isAscii(text)) return text.toLowerCase();
  return text
    .toLowerCase()
    .replace(/[^ı]+/gu, (part) => part.toUpperCase().toLowerCase())
    .replaceAll('ς', 'σ');
}
