import * as z from 'zod/mini';
import { isFound, patternReader, type Pattern } from './json-schema/patterns/pattern.ts';
import { startRun } from './json-schema/run.ts';
import { SchemaRefused } from './schema-refused.ts';

/** Flags that RE2 has as well, and those that change nothing where a text is searched once and by code points. */
const FLAGS = /^[giu]*$/;
/** Where the definitions of checks and of texts hold what their author wants to find. */
const KEYS = ['pattern', 'hostname', 'protocol'] as const;

/** What is looked at of a definition. */
type Definition = { fn?: unknown } & Partial<Record<(typeof KEYS)[number], unknown>>;

/** A regular expression that looks the same and is searched by RE2, in time that is in proportion to the text. */
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
 * Has the patterns of a zod schema searched by RE2: `^(a+)+$` takes V8 twenty seconds, and all of the host waits. They mean what they mean in the
 * JSON schema that zod writes of them. Those that RE2 cannot do stay V8's, and so do those of the formats that zod brings.
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
        // Made of its parts when the schema was.
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
    // A format of the author's own asks this instead.
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
