import { hasHidden } from '../../../skills/text/text.ts';

// oxlint-disable-next-line no-control-regex -- the pattern looks for control characters
const ESCAPED = /[\u007f-\u009f\u2028\u2029\p{Cf}\p{Co}\p{Zs}\p{Zl}\p{Zp}]/u;

/**
 * Writes a text as a string literal for both TypeScript and Python. Invisible characters are escaped, so that the literal
 * reads as it is and stays on its line.
 *
 * @param text any text
 * @returns the literal in double quotes
 */
export function quotedLiteral(text: string): string {
  let literal = '';
  for (const character of JSON.stringify(text)) {
    const isPlain = character === ' ' || !(ESCAPED.test(character) || hasHidden(character));
    literal += isPlain ? character : escapeUnits(character);
  }
  return literal;
}

function escapeUnits(character: string): string {
  return Array.from({ length: character.length }, (_, at) => unitEscape(character.charCodeAt(at))).join('');
}

function unitEscape(unit: number): string {
  return `\\u${unit.toString(16).padStart(4, '0')}`;
}
