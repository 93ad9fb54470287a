import type { RE2JS } from 're2js';
import { quotedText } from '../../../../contracts/text/quoted-text.ts';
import { loadRe2 } from '../../../../skills/text/lazy-modules.ts';
import { SchemaRefused } from '../../schema-refused.ts';
import { patternSource } from './pattern-source.ts';
import { spend, type Run } from '../run.ts';

/** A pattern whose search takes time in proportion to the text. */
export interface Pattern {
  compiled: RE2JS;
  /** Steps for each character. */
  size: number;
}

/** Options of a search. */
export interface PatternOptions {
  /** @default false */
  ignoreCase?: boolean;
}

/** The most instructions of all patterns of a schema. */
const MAX_SIZE = 10_000;
const STEPS_AN_INSTRUCTION = 0.35;

/** Makes the patterns of one schema; equal ones are compiled once. */
export function patternReader(): (source: string, options?: PatternOptions) => Pattern {
  const made = new Map<string, Pattern>();
  let left = MAX_SIZE;
  return (source, { ignoreCase = false } = {}) => {
    const key = `${ignoreCase} ${source}`;
    const known = made.get(key);
    if (known !== undefined) return known;
    const { text, size } = patternSource(source);
    left -= size + 4;
    if (left < 0) throw new SchemaRefused(`patterns that become more than ${MAX_SIZE} instructions`);
    const compiled = compile(ignoreCase ? `(?i)${text}` : text);
    const pattern = { compiled, size: compiled.programSize() + 4 };
    made.set(key, pattern);
    return pattern;
  };
}

function compile(text: string): RE2JS {
  const { RE2JS } = loadRe2();
  try {
    return RE2JS.compile(text);
  } catch (error) {
    throw new SchemaRefused(`a pattern that RE2 does not take (${quotedText((error as Error).message)})`);
  }
}

/**
 * Whether a pattern is found in a text.
 *
 * A matcher simulates the pattern, with a fixed number of steps for each character and no memory. The automaton of `test` is
 * faster for most texts, but takes half a second and 80 MiB for others.
 */
export function isFound(pattern: Pattern, text: string, run: Run): boolean {
  spend(run, 4 + (1 + text.length) * pattern.size * STEPS_AN_INSTRUCTION);
  return pattern.compiled.matcher(text).find();
}
