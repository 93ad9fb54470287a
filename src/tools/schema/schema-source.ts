import type * as z from 'zod/mini';
import type { SdkSchema, StandardSchema } from './tool-schema.ts';

/**
 * A zod schema of any flavour, a JSON schema (2020-12, or draft-07 where `$schema` says so), a schema of the AI SDK or a function that
 * gives one, or a schema of another library that is a Standard Schema and says its JSON schema. It is enforced whole.
 */
export type ToolSchema =
  | z.core.$ZodType
  | Record<string, unknown>
  | SdkSchema
  | StandardSchema
  | (() => SdkSchema | StandardSchema);

/** What the AI SDK marks its schemas with. */
export const SDK_SCHEMA: symbol = Symbol.for('vercel.ai.schema');

/** Whether a schema is one of zod's. */
export function isZodSchema(schema: object): schema is z.core.$ZodType {
  return '_zod' in schema;
}

/** Whether a schema of another library checks values itself. JSON may have a member of that name, and does not. */
export function isStandardSchema(schema: object): schema is StandardSchema {
  const { '~standard': standard } = schema as Partial<StandardSchema>;
  return typeof standard?.validate === 'function';
}
