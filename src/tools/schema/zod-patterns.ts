import * as z from 'zod/mini';
import { isFound, patternReader, type Pattern } from './json-schema/patterns/pattern.ts';
import { startRun } from './json-schema/run.ts';
import { SchemaRefused } from './schema-refused.ts';

/** Flags that RE2 supports, or that make no difference for one search by code points. */
const FLAGS = /^[giu]*$/;
/** Keys with the author's patterns in definitions of checks and texts. */
const KEYS = ['pattern', 'hostname', 'protocol'] as const;

/** The relevant part of a definition. */
type Definition = { fn?: unknown } & Partial<Record<(typeof KEYS)[number], unknown>>;

/** A regular expression that looks unchanged but searches with RE2, in time in proportion to the text. */
class LinearRegExp extends RegExp {
  readonly #pattern: Pattern;

  constructor(original: RegExp, pattern: Pattern) {
    super(original);
    this.#pattern = pattern;
  }

  /** @throws {TooMuchWork} for a text that is too long for the pattern */
  override test(text: string): boolean {
    return isFound(this.#pattern, text, startRun());
  }
}

/**
 * Makes RE2 search the patterns of a zod schema: `^(a+)+$` can take V8 twenty seconds and block the whole host. The patterns
 * keep their meaning in zod's JSON schema. V8 still searches patterns that RE2 does not support, and zod's own formats.
 */
export function searchPatternsByRe2(schema: z.core.$ZodType): void {
  const read = patternReader();
  for (const io of ['input', 'output'] as const) {
    z.toJSONSchema(schema, {
      io,
      unrepresentable: 'any',
      metadata: z.registry(),
      override({ zodSchema: { _zod } }) {
        const { def } = _zod;
        const parts: object[] = [def, ...(def.checks ?? []).map((check) => check._zod.def)];
        for (const part of parts) replacePatterns(part, read);
        // zod composed this pattern from the parts when the schema was made.
        if (def.type === 'template_literal') _zod.pattern = linear(_zod.pattern, read) ?? _zod.pattern;
      },
    });
  }
}

function replacePatterns(def: Definition, read: ReturnType<typeof patternReader>): void {
  for (const key of KEYS) {
    const pattern = linear(def[key], read);
    if (pattern === undefined) continue;
    def[key] = pattern;
    // The author's own format calls this function instead.
    if (key === 'pattern' && def.fn !== undefined) def.fn = (text: string) => pattern.test(text);
  }
}

function linear(pattern: unknown, read: ReturnType<typeof patternReader>): LinearRegExp | undefined {
  if (!(pattern instanceof RegExp) || pattern instanceof LinearRegExp) return undefined;
  if (!FLAGS.test(pattern.flags) || OF_ZOD.has(pattern)) return undefined;
  try {
    return new LinearRegExp(pattern, read(pattern.source, { ignoreCase: pattern.ignoreCase }));
  } catch (error) {
    if (error instanceof SchemaRefused) return undefined;
    throw error;
  }
}

const OF_ZOD: ReadonlySet<unknown> = new Set(Object.values(z.core.regexes));
