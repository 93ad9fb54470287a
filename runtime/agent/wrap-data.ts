import { withoutEnd } from '../../src/contracts/text/without-end.ts';
import { createHash } from 'node:crypto';
import { stripVTControlCharacters } from 'node:util';
import { escapeMarkers } from '../../src/skills/render/escape-markers.ts';

/** Control characters other than tab and newline: models do not need them, and some services refuse them. */
// oxlint-disable-next-line no-control-regex -- the pattern matches control characters on purpose
const CONTROLS = /[\u0000-\u0008\u000b-\u001f\u007f]/g;

/**
 * Wraps output of a program as data for the model. The boundary contains the digest of the wrapped text, so no program can print it, and the same
 * output still gives the same bytes. Lines that look like a marker of the skills block get a backslash.
 *
 * @param label name of the data, for example `stderr`
 * @param text output of the program
 */
export function wrapData(label: string, text: string): string {
  const visible = stripVTControlCharacters(text).replace(CONTROLS, '');
  const body = `${withoutEnd(escapeMarkers(visible).text, '\n')}\n`;
  const boundary = createHash('sha256').update(`${label}\0${body}`).digest('hex').slice(0, 32);
  return `----- begin ${label} ${boundary} -----\n${body}----- end ${label} ${boundary} -----`;
}

/**
 * The end of a text, starting at the beginning of a line if possible.
 *
 * @param text any text
 * @param limit most characters to keep
 * @returns the text, or its last lines
 */
export function tailOf(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const tail = text.slice(-limit);
  const lineEnd = tail.indexOf('\n');
  // A last line longer than the limit is cut, but not inside a surrogate pair.
  if (lineEnd === -1 || lineEnd === tail.length - 1) return tail.replace(/^[\uDC00-\uDFFF]/, '');
  return tail.slice(lineEnd + 1);
}
