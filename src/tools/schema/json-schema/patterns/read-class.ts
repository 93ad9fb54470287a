import { SchemaRefused } from '../../schema-refused.ts';
import { ANY } from './character-sets.ts';
import type { PatternCursor, PatternPart } from './pattern-cursor.ts';
import { readEscaped, type Escaped } from './read-escape.ts';

/** Reads a class after its bracket. */
export function readClass(cursor: PatternCursor): PatternPart {
  const negated = cursor.match(/^\^/) ?? '';
  const found: PatternPart = { text: `[${negated}`, size: 2 };
  let members = 0;
  for (let first = readMember(cursor); first !== undefined; first = readMember(cursor)) {
    members += 1;
    const last = 'point' in first ? readRangeEnd(cursor) : undefined;
    found.text += 'point' in first ? rangeText(first.point, last ?? first.point) : first.members;
    found.size += 'point' in first ? 1 : first.size;
  }
  if (members > 0) return { text: `${found.text}]`, size: found.size };
  if (negated === '') throw new SchemaRefused('an empty class, which nothing matches');
  return { text: ANY, size: 2 };
}

/** Reads the next character or class within the class; undefined at its end. */
function readMember(cursor: PatternCursor): Escaped | undefined {
  const character = cursor.take();
  if (character === undefined) throw new SchemaRefused('a "[" without its "]"');
  if (character === ']') return undefined;
  if (character !== '\\') return { point: character.codePointAt(0) as number };
  return cursor.match(/^b/) === undefined ? readEscaped(cursor) : { point: 8 };
}

/** A hyphen at the end, or before a class, is a member itself. */
function readRangeEnd(cursor: PatternCursor): number | undefined {
  if (cursor.match(/^-(?!\]|\\[dDwWsSpP]|$)/) === undefined) return undefined;
  const end = readMember(cursor);
  return end !== undefined && 'point' in end ? end.point : undefined;
}

function rangeText(first: number, last: number): string {
  if (first > last) throw new SchemaRefused('a class with a range from a later character to an earlier one');
  return `\\x{${first.toString(16)}}-\\x{${last.toString(16)}}`;
}
