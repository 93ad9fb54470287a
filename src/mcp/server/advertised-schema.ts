import type { StandardSchemaWithJSON } from '@modelcontextprotocol/server';
import * as z from 'zod/mini';

/**
 * A schema as the protocol's library lists it. It judges nothing: arguments are checked where the call is made, so that what is wrong
 * with them is told as every other refusal is.
 */
export function advertisedSchema(schema: z.core.$ZodType, io: 'input' | 'output'): StandardSchemaWithJSON {
  let json: Record<string, unknown> | undefined;
  const written = (): Record<string, unknown> => (json ??= withoutDialect(schema, io));
  return {
    '~standard': {
      version: 1,
      vendor: 'skillcell',
      validate: (value) => ({ value }),
      jsonSchema: { input: written, output: written },
    },
  };
}

/** Validators of older clients refuse a dialect that they do not know by name; what is used here is in all of them. */
function withoutDialect(schema: z.core.$ZodType, io: 'input' | 'output'): Record<string, unknown> {
  const { $schema: _dialect, '~standard': _standard, ...json } = z.toJSONSchema(schema, { io });
  return json;
}
