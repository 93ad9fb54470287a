import { SchemaRefused } from '../../schema-refused.ts';
import { BLANKS, NO_BLANKS } from './character-sets.ts';
import type { PatternCursor, PatternPart } from './pattern-cursor.ts';

/** General categories by their long names, as far as they are common; RE2 knows only the short names. */
const LONG_NAMES: Readonly<Record<string, string>> = {
  Letter: 'L',
  Lowercase_Letter: 'Ll',
  Uppercase_Letter: 'Lu',
  Mark: 'M',
  Number: 'N',
  Decimal_Number: 'Nd',
  Punctuation: 'P',
  Symbol: 'S',
  Separator: 'Z',
  Space_Separator: 'Zs',
  Control: 'Cc',
};

/** A code point, or members of a class. */
export type Escaped = { point: number } | { members: string; size: number };

const CONTROLS: Readonly<Record<string, number>> = { t: 9, n: 10, v: 11, f: 12, r: 13 };
const CLASSES: Readonly<Record<string, string>> = { d: '0-9', w: '0-9A-Za-z_', s: BLANKS, S: NO_BLANKS };

/** Reads the text after a backslash, outside of a class. */
export function readEscape(cursor: PatternCursor): PatternPart {
  const boundary = cursor.match(/^[bB]/);
  if (boundary !== undefined) return { text: `\\${boundary}`, size: 2 };
  const escaped = readEscaped(cursor);
  return 'point' in escaped
    ? { text: `\\x{${escaped.point.toString(16)}}`, size: 2 }
    : { text: `[${escaped.members}]`, size: escaped.size };
}

/** Reads the text after a backslash in a place where it cannot be a word boundary. */
export function readEscaped(cursor: PatternCursor): Escaped {
  const property = cursor.match(/^[pP](?:\{[^{}]*\})?/);
  if (property !== undefined) return { members: unicodeProperty(property), size: PROPERTY_SIZE };
  const coded = readCode(cursor);
  if (coded !== undefined) return { point: coded };
  const character = cursor.take();
  if (character === undefined) throw new SchemaRefused('a backslash at the end');
  const members = CLASSES[character] ?? (/[DW]/.test(character) ? `\\${character}` : undefined);
  if (members !== undefined) return { members, size: 4 };
  if (/[\dk]/.test(character))
    throw new SchemaRefused(`the back-reference "\\${character}", for which RE2 has nothing`);
  if (/[A-Za-z]/.test(character)) throw new SchemaRefused(`"\\${character}", which is no escape`);
  return { point: character.codePointAt(0) as number };
}

/** Estimated size, because a Unicode class has many ranges. */
const PROPERTY_SIZE = 30;

/** A code point that is written as a number or as a letter. */
function readCode(cursor: PatternCursor): number | undefined {
  const pair = cursor.match(/^u[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F][\da-fA-F]{2}/);
  if (pair !== undefined) {
    const units = [pair.slice(1, 5), pair.slice(7)].map((digits) => Number.parseInt(digits, 16));
    return String.fromCharCode(...units).codePointAt(0);
  }
  const hex = cursor.match(/^(?:x[\da-fA-F]{2}|u[\da-fA-F]{4}|u\{0*[\da-fA-F]{1,6}\})/);
  if (hex !== undefined) return Number.parseInt(hex.replace(/[xu{}]/g, ''), 16);
  const control = cursor.match(/^c[A-Za-z]/);
  if (control !== undefined) return control.charCodeAt(1) % 32;
  if (cursor.match(/^0(?!\d)/) !== undefined) return 0;
  const letter = cursor.match(/^[tnvfr]/);
  return letter === undefined ? undefined : CONTROLS[letter];
}

/** Converts `p{…}` of ECMAScript to members of an RE2 class: a general category or a script. */
function unicodeProperty(written: string): string {
  const [, letter = '', name = ''] = /^([pP])\{(?:(?:General_Category|gc)=)?(\w+)\}$/.exec(written) ?? [];
  const category = LONG_NAMES[name] ?? name;
  if (/^[LMNPSZ][a-z]?$|^C[cfo]$/.test(category)) return `\\${letter}{${category}}`;
  const [, sign, script] = /^([pP])\{(?:Script|sc)=(\w+)\}$/.exec(written) ?? [];
  if (script !== undefined) return `\\${sign}{${script}}`;
  throw new SchemaRefused(`"\\${written}", which is no general category and no script`);
}
