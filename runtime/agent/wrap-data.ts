import { withoutEnd } from '../../src/contracts/text/without-end.ts';
import { createHash } from 'node:crypto';
import { stripVTControlCharacters } from 'node:util';
import { escapeMarkers } from '../../src/skills/render/escape-markers.ts';

/** Control characters but tab and newline: no service needs them, some refuse them. */
// oxlint-disable-next-line no-control-regex -- control characters are what this looks for
const CONTROLS = /[\u0000-\u0008\u000b-\u001f\u007f]/g;

/**
 * Wraps output of a program as data for the model. The boundary is made of the digest of what it bounds, so that no
 * program can print it, and the same output still gives the same bytes. Lines that look like a marker of the skills
 * block get a backslash.
 *
 * @param label what it is, for example `stderr`
 * @param text what the program wrote
 * @returns the text between two boundary lines
 */
export function wrapData(label: string, text: string): string {
  const visible = stripVTControlCharacters(text).replace(CONTROLS, '');
  const body = `${withoutEnd(escapeMarkers(visible).text, '\n')}\n`;
  const boundary = createHash('sha256').update(`${label}\0${body}`).digest('hex').slice(0, 32);
  return `----- begin ${label} ${boundary} -----\n${body}----- end ${label} ${boundary} -----`;
}

/**
 * The end of a text, from the beginning of a line on where that is possible.
 *
 * @param text any text
 * @param limit characters that may stay
 * @returns the text, or its last lines
 */
export function tailOf(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const tail = text.slice(-limit);
  const lineEnd = tail.indexOf('\n');
  // One line that is longer than the limit is cut inside, but not inside of a surrogate pair.
  if (lineEnd === -1 || lineEnd === tail.length - 1) return tail.replace(/^[\uDC00-\uDFFF]/, '');
  return tail.slice(lineEnd + 1);
}
