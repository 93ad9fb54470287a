import { SchemaRefused } from '../../schema-refused.ts';
import { DOT } from './character-sets.ts';
import { PatternCursor, type PatternPart } from './pattern-cursor.ts';
import { readClass } from './read-class.ts';
import { readEscape } from './read-escape.ts';

const MAX_GROUPS = 100;

/**
 * Converts a pattern of ECMAScript, the syntax of JSON Schema, into the syntax of RE2. Constructs with different meanings
 * are spelled out; constructs that RE2 does not support are refused. Letters, `^`, `|` and quantifiers are the same in both.
 *
 * @throws {SchemaRefused} names the construct
 */
export function patternSource(pattern: string): PatternPart {
  const cursor = new PatternCursor(pattern);
  const source = readGroup(cursor, 0);
  if (cursor.take() !== undefined) throw new SchemaRefused('a ")" without its "("');
  return source;
}

/** Reads up to the end of the group, without taking its parenthesis. */
function readGroup(cursor: PatternCursor, depth: number): PatternPart {
  const group: PatternPart = { text: '', size: 1 };
  while (cursor.peek() !== undefined && cursor.peek() !== ')') {
    const atom = readAtom(cursor, depth);
    const times = readQuantifier(cursor);
    group.text += atom.text + times.text;
    group.size += atom.size * times.count;
  }
  return group;
}

function readAtom(cursor: PatternCursor, depth: number): PatternPart {
  const character = cursor.take() as string;
  switch (character) {
    case '(':
      return readParentheses(cursor, depth);
    case '[':
      return readClass(cursor);
    case '\\':
      return readEscape(cursor);
    case '.':
      return { text: DOT, size: 2 };
    case '$':
      return { text: '\\z', size: 2 };
    case '^':
    case '|':
    case '*':
    case '+':
    case '?':
      return { text: character, size: 2 };
    default:
      return { text: oneCharacter(character), size: 2 };
  }
}

function readParentheses(cursor: PatternCursor, depth: number): PatternPart {
  if (depth >= MAX_GROUPS) throw new SchemaRefused(`more than ${MAX_GROUPS} groups in each other`);
  const kind = cursor.match(/^\?(?:<?[=!]|[^:<]|$)/);
  if (kind !== undefined) throw new SchemaRefused(`"(${kind}", for which RE2 has nothing`);
  // No code reads the content of groups, so names of groups are dropped.
  cursor.match(/^\?(?::|<[\p{ID_Start}$_][\p{ID_Continue}$]*>)/u);
  const inside = readGroup(cursor, depth + 1);
  if (cursor.take() === undefined) throw new SchemaRefused('a "(" without its ")"');
  return { text: `(?:${inside.text})`, size: inside.size + 1 };
}

/** A brace that begins no quantifier stands for itself. */
function readQuantifier(cursor: PatternCursor): { text: string; count: number } {
  const text = cursor.match(/^(?:[*+?]|\{\d{1,9}(?:,\d{0,9})?\})\??/) ?? '';
  const counts = text.match(/\d+/g) ?? [];
  return { text, count: Math.max(1, ...counts.map(Number)) + (text === '' ? 0 : 1) };
}

/** A character that stands for itself, even if it is special in RE2. */
function oneCharacter(character: string): string {
  return /^[\w ]$/.test(character) ? character : `\\x{${character.codePointAt(0)?.toString(16)}}`;
}
