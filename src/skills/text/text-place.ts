import { codePointLength } from './text.ts';

/** A place in a text; both count from 1, columns by code point. */
export interface TextPlace {
  line: number;
  column: number;
}

/**
 * Finds line and column of an offset.
 *
 * @param text any text with LF as line end
 * @param offset index into the text
 * @returns the place
 */
export function placeAt(text: string, offset: number): TextPlace {
  return placeFinder(text)(offset);
}

/**
 * Finds places in one text. Growing offsets need only one pass over the text, however many there are.
 *
 * @param text any text with LF as line end
 * @returns the place of an offset
 */
export function placeFinder(text: string): (offset: number) => TextPlace {
  let known = 0;
  let line = 1;
  let column = 1;
  return (offset) => {
    if (offset < known) [known, line, column] = [0, 1, 1];
    for (let at = text.indexOf('\n', known); at >= 0 && at < offset; at = text.indexOf('\n', known))
      [known, line, column] = [at + 1, line + 1, 1];
    column += codePointLength(text.slice(known, offset));
    known = offset;
    return { line, column };
  };
}

/**
 * Moves a place down, for a text that is a part of a file.
 *
 * @param place a place in the part
 * @param lines number of lines of the file above the part
 * @returns the place in the file
 */
export function movedDown({ line, column }: TextPlace, lines: number): TextPlace {
  return { line: line + lines, column };
}
