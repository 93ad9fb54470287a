import type { RE2JS } from 're2js';
import { type Diagnostic, diagnostic, type DiagnosticPlace } from '../../contracts/errors/diagnostic.ts';
import type { TextPlace } from '../text/text-place.ts';
import { loadRe2 } from '../text/lazy-modules.ts';
import { codePointLength } from '../text/text.ts';
import { type Need, neededWords } from './needed-words.ts';

/** The most code points of one pattern. */
export const PATTERN_LIMIT = 512;
/** The most patterns of one skill. */
export const PATTERNS_LIMIT = 50;
/** The most compiled patterns in memory: each holds tens of kilobytes after its first search. */
const KEPT_ENGINES = 1_000;

const HALF_PAIR = /\p{Surrogate}/u;

/** A pattern of a skill, ready to search. */
export interface TriggerPattern {
  /** As it was written. */
  source: string;
  /** Words that a query must hold for the pattern to match; undefined when no word is certain. */
  need: Need | undefined;
  /** Searches a query, without regard to case, in time linear to its length. */
  test(query: string): boolean;
}

/** The usable patterns of a skill. */
export interface CompiledPatterns {
  patterns: TriggerPattern[];
  /** `trigger.pattern` for each refused pattern, `trigger.too-many` for the dropped rest of a long list. */
  diagnostics: Diagnostic[];
}

/** The file that patterns were read from. */
export interface PatternFile {
  path: string;
  /** Place of each pattern. */
  places?: readonly TextPlace[];
}

/** By list of patterns: loading a skill checks the list, queries use it later. */
const compiled = new WeakMap<readonly string[], CompiledPatterns>();

/**
 * Reads the patterns of a skill for a linear-time engine (RE2 syntax). Look-around, back-references, broken
 * syntax and overlong patterns are refused.
 *
 * @param sources patterns as the skill holds them; the result is kept for this list
 * @param file where the patterns stand; default `SKILL.md`
 * @returns the usable patterns, and diagnostics for the refused ones
 */
export function compilePatterns(
  sources: readonly string[],
  file: PatternFile = { path: 'SKILL.md' },
): CompiledPatterns {
  const known = compiled.get(sources);
  if (known !== undefined) return known;
  const result: CompiledPatterns = { patterns: [], diagnostics: [] };
  const placeOf = (index: number): DiagnosticPlace => ({ path: file.path, ...file.places?.[index] });
  for (const [index, source] of sources.slice(0, PATTERNS_LIMIT).entries()) {
    const pattern = readPattern(source);
    if (typeof pattern === 'string') {
      const message = `The pattern ${JSON.stringify(source.slice(0, 80))} was refused: ${pattern}.`;
      result.diagnostics.push(diagnostic('trigger.pattern', message, placeOf(index)));
    } else result.patterns.push(pattern);
  }
  if (sources.length > PATTERNS_LIMIT) {
    const message = `A skill may have ${PATTERNS_LIMIT} patterns, this one has ${sources.length}; the rest was dropped.`;
    result.diagnostics.push(diagnostic('trigger.too-many', message, placeOf(PATTERNS_LIMIT)));
  }
  compiled.set(sources, result);
  return result;
}

/** Reads one pattern; a string is the reason for a refusal. It is compiled only when a query may match it. */
function readPattern(source: string): TriggerPattern | string {
  const length = codePointLength(source);
  if (length > PATTERN_LIMIT) return `it may have ${PATTERN_LIMIT} characters, it has ${length}`;
  if (HALF_PAIR.test(source)) return 'it holds half a surrogate pair';
  const { RE2JS, RE2Set } = loadRe2();
  const set = new RE2Set(RE2Set.UNANCHORED, RE2JS.CASE_INSENSITIVE);
  try {
    set.add(source);
  } catch (error) {
    // Any error of the engine means that the pattern is unusable; the diagnostic holds its text.
    return error instanceof Error ? error.message.slice(0, 200) : String(error);
  }
  return { source, need: neededWords(set), test: (query) => engineOf(source).test(query) };
}

/** The engines used last; the most recent one is last. */
const engines = new Map<string, RE2JS>();

function engineOf(source: string): RE2JS {
  const { RE2JS } = loadRe2();
  const engine = engines.get(source) ?? RE2JS.compile(source, RE2JS.CASE_INSENSITIVE);
  engines.delete(source);
  engines.set(source, engine);
  const [oldest] = engines.keys();
  if (engines.size > KEPT_ENGINES && oldest !== undefined) engines.delete(oldest);
  return engine;
}
