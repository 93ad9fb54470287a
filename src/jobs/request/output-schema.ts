import * as z from 'zod/mini';
import { parametersFault } from '../../tools/define/parameters-fault.ts';
import type { ToolSchema } from '../../tools/schema/schema-source.ts';
import type { CheckedValue, CompiledSchema } from '../../tools/schema/tool-schema.ts';

/** Accepts the schema of an answer or a value, in all forms of the schema of a tool. */
export const outputSchema: z.ZodMiniType = z
  .custom(
    (value) => (typeof value === 'object' && value !== null) || typeof value === 'function',
    'must be a zod schema or an object with a JSON schema',
  )
  .check(
    z.superRefine((value, context) => {
      const fault = parametersFault(value);
      if (fault !== undefined) context.addIssue({ code: 'custom', ...fault });
    }),
  );

/** A schema that the host enforces and a model is told. */
export type OutputSchema = Pick<CompiledSchema, 'json' | 'check'>;

/**
 * Compiles a checked schema.
 *
 * @param subject name of the schema in messages
 * @throws SkillcellError `tool.schema-unsupported`
 */
export async function compileOutput(schema: unknown, subject: string): Promise<OutputSchema> {
  // Loaded lazily: most jobs have no schema.
  const { compileToolSchema } = await import('../../tools/schema/compile-tool-schema.ts');
  const compiled = await compileToolSchema(schema as ToolSchema, { subject });
  const { $schema: _, ...json } = compiled.json;
  return { json, check: (value) => compiled.check(value) };
}

/** Checks a value. If a function in the schema throws, the value is refused; its error is not shown to a model. */
export async function checkOutput(schema: OutputSchema, value: unknown): Promise<CheckedValue> {
  try {
    return await schema.check(value);
  } catch {
    return { fault: 'its schema could not be applied' };
  }
}
