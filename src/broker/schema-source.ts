import type * as z from 'zod/mini';

/** A zod schema of any flavour, or a JSON schema (2020-12, or draft-07 where `$schema` says so). It is enforced whole. */
export type ToolSchema = z.core.$ZodType | Record<string, unknown>;

/** Whether a schema is one of zod's. */
export function isZodSchema(schema: object): schema is z.core.$ZodType {
  return '_zod' in schema;
}
