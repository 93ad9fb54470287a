import * as z from 'zod/mini';
import { parametersFault } from '../../tools/define/parameters-fault.ts';
import type { ToolSchema } from '../../tools/schema/schema-source.ts';
import type { CheckedValue, CompiledSchema } from '../../tools/schema/tool-schema.ts';

/** What a caller may give as the schema of an answer or a value: all that the schema of a tool may be. */
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

/** A schema that is enforced on the host, and told to a model. */
export type OutputSchema = Pick<CompiledSchema, 'json' | 'check'>;

/**
 * Makes a checked schema ready to be enforced.
 *
 * @param subject what messages call it
 * @throws SkillcellError `tool.schema-unsupported`
 */
export async function compileOutput(schema: unknown, subject: string): Promise<OutputSchema> {
  // Most jobs have no schema of their own.
  const { compileToolSchema } = await import('../../tools/schema/compile-tool-schema.ts');
  const compiled = await compileToolSchema(schema as ToolSchema, { subject });
  const { $schema: _, ...json } = compiled.json;
  return { json, check: (value) => compiled.check(value) };
}

/** What a schema says of a value. A function of its author that throws can be told to no model, and lets nothing through. */
export async function checkOutput(schema: OutputSchema, value: unknown): Promise<CheckedValue> {
  try {
    return await schema.check(value);
  } catch {
    return { fault: 'its schema could not be applied' };
  }
}
