import * as z from 'zod/mini';
import { isZodSchema, type ToolSchema } from './schema-source.ts';

/** Arguments that fit, or what is wrong with them. */
export type CheckedArguments = { args: unknown } | { fault: string };

const compiled = new WeakMap<object, z.core.$ZodType>();

/**
 * Checks a call's arguments against the parameters of its tool.
 *
 * @param args plain JSON from a sandbox
 * @param parameters schema of the tool; undefined takes everything
 * @returns the arguments as the schema gives them, or the first three faults in one line
 * @throws {Error} when a JSON schema uses what cannot be enforced: nothing is let through unchecked
 */
export async function checkArguments(args: unknown, parameters: ToolSchema | undefined): Promise<CheckedArguments> {
  if (parameters === undefined) return { args };
  const parsed = await z.safeParseAsync(await schemaOf(parameters), args);
  if (parsed.success) return { args: parsed.data };
  const faults = parsed.error.issues.slice(0, 3).map((issue) => {
    const where = issue.path.map(String).join('.').slice(0, 80);
    const fault = issue.code === 'invalid_type' ? `expected ${issue.expected}` : issue.message;
    return where === '' ? fault : `${where}: ${fault}`;
  });
  return { fault: faults.join('; ') };
}

async function schemaOf(parameters: ToolSchema): Promise<z.core.$ZodType> {
  if (isZodSchema(parameters)) return parameters;
  const known = compiled.get(parameters);
  if (known !== undefined) return known;
  // The reader of JSON schemas is in the large flavour of zod only; few jobs need it.
  const { fromJSONSchema } = await import('zod');
  const schema = fromJSONSchema(parameters);
  compiled.set(parameters, schema);
  return schema;
}
