import * as z from 'zod/mini';
import { isFound, patternReader, type Pattern } from './json-schema/pattern.ts';
import { startRun } from './json-schema/run.ts';
import { SchemaRefused } from './schema-refused.ts';

/** The check that `regex()` adds to a text. */
type PatternCheck = z.core.$ZodCheckRegexDef;

/** Flags that RE2 has as well, and those that change nothing where a text is searched once and by code points. */
const FLAGS = /^[giu]*$/;

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
 * JSON schema that zod writes of them. Those that RE2 cannot do stay V8's, and so do the formats that zod brings.
 */
export function searchPatternsByRe2(schema: z.core.$ZodType): void {
  const read = patternReader();
  for (const io of ['input', 'output'] as const) {
    z.toJSONSchema(schema, {
      io,
      unrepresentable: 'any',
      metadata: z.registry(),
      override({ zodSchema }) {
        const checks = zodSchema._zod.def.checks ?? [];
        for (const check of checks) if (isPatternCheck(check._zod.def)) replacePattern(check._zod.def, read);
      },
    });
  }
}

function isPatternCheck(def: z.core.$ZodCheckDef): def is PatternCheck {
  return 'format' in def && def.format === 'regex' && 'pattern' in def && def.pattern instanceof RegExp;
}

function replacePattern(def: PatternCheck, read: ReturnType<typeof patternReader>): void {
  const { pattern } = def;
  if (pattern instanceof LinearRegExp || !FLAGS.test(pattern.flags)) return;
  try {
    def.pattern = new LinearRegExp(pattern, read(pattern.source, { ignoreCase: pattern.ignoreCase }));
  } catch (error) {
    if (!(error instanceof SchemaRefused)) throw error;
  }
}
