import type * as z from 'zod/mini';
import type { SdkSchema, StandardSchema } from './tool-schema.ts';

/**
 * One of: a zod schema of any flavour; a JSON schema (2020-12, or draft-07 if `$schema` names it); a schema of the AI SDK, or
 * a function that returns one; a Standard Schema of another library that provides its JSON schema. It is enforced completely.
 */
export type ToolSchema =
  | z.core.$ZodType
  | Record<string, unknown>
  | SdkSchema
  | StandardSchema
  | (() => SdkSchema | StandardSchema);

/** The mark of the AI SDK's schemas. */
export const SDK_SCHEMA: symbol = Symbol.for('vercel.ai.schema');

/** Whether a schema is from zod. */
export function isZodSchema(schema: object): schema is z.core.$ZodType {
  return '_zod' in schema;
}

/** Whether a schema of another library checks values itself. JSON may have a member of that name, but no function in it. */
export function isStandardSchema(schema: object): schema is StandardSchema {
  const { '~standard': standard } = schema as Partial<StandardSchema>;
  return typeof standard?.validate === 'function';
}
