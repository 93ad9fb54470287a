import * as z from 'zod/mini';
import { explainIssue, NO_WORDS } from '../../contracts/checks/explain-issue.ts';
import { faultLine, type ValueFault } from './fault-line.ts';
import { SchemaRefused } from './schema-refused.ts';
import { TOO_MUCH_WORK, TooMuchWork } from './json-schema/run.ts';
import { searchPatternsByRe2 } from './zod-patterns.ts';
import { structureGuard } from './zod-structure.ts';
import type { CompiledSchema, SchemaSide } from './tool-schema.ts';

/** Compiled schemas: schemas never change, and those of skill tools serve many jobs. */
const compiled = {
  input: new WeakMap<z.core.$ZodType, CompiledSchema>(),
  output: new WeakMap<z.core.$ZodType, CompiledSchema>(),
} satisfies Record<SchemaSide, WeakMap<z.core.$ZodType, CompiledSchema>>;

/** Compiles a zod schema of any flavour of version 4, which enforces itself; once for each side. */
export function compileZodSchema(schema: z.core.$ZodType, io: SchemaSide): CompiledSchema {
  const known = compiled[io].get(schema);
  if (known !== undefined) return known;
  const made = compile(schema, io);
  compiled[io].set(schema, made);
  return made;
}

function compile(schema: z.core.$ZodType, io: SchemaSide): CompiledSchema {
  const json = jsonOf(schema, io);
  const guard = structureGuard(schema);
  searchPatternsByRe2(schema);
  return {
    json,
    async check(value) {
      const fault = guard(value);
      if (fault !== undefined) return { fault };
      const parsed = await parse(schema, value);
      if (parsed === undefined) return { fault: TOO_MUCH_WORK };
      if (parsed.success) return { value: parsed.data };
      const { issues } = parsed.error;
      if (issues.every(({ message }) => message !== WORDLESS)) return { fault: faultLine(issues.map(toldByZod)) };
      const again = await z.safeParseAsync(schema, value, { error: () => NO_WORDS });
      const explained = (again.error?.issues ?? issues).map((issue) => toldByUs(schema, value, issue));
      return { fault: faultLine(explained) };
    },
  };
}

/** Parses a value; undefined if a text is too long for a pattern. */
async function parse(
  schema: z.core.$ZodType,
  value: unknown,
): Promise<z.core.util.SafeParseResult<unknown> | undefined> {
  try {
    return await z.safeParseAsync(schema, value);
  } catch (error) {
    if (error instanceof TooMuchWork) return undefined;
    throw error;
  }
}

function jsonOf(schema: z.core.$ZodType, io: SchemaSide): Record<string, unknown> {
  try {
    const { '~standard': _, ...json } = z.toJSONSchema(schema, { io });
    return json;
  } catch (error) {
    throw new SchemaRefused(`a zod schema that cannot be written as a JSON schema (${(error as Error).message})`);
  }
}

/** zod's only message when no language is loaded in the process: the small flavour loads none. */
const WORDLESS = 'Invalid input';

/** Leaves out the received value, which zod's own text repeats and the sender knows. */
function toldByZod(issue: z.core.$ZodIssue): ValueFault {
  return { path: issue.path, text: issue.code === 'invalid_type' ? `expected ${issue.expected}` : issue.message };
}

function toldByUs(schema: z.core.$ZodType, value: unknown, issue: z.core.$ZodIssue): ValueFault {
  const { reason, advice } = explainIssue(schema, value, [issue], 'the value');
  return { path: [], text: advice === undefined ? reason : `${reason}. ${advice.replace(/\.$/, '')}` };
}
