import * as z from 'zod/mini';

/** Reads JSON that another side has written; undefined if it has another form. */
export function readJson<T>(schema: z.ZodMiniType<T>, text: string | Buffer): T | undefined {
  try {
    return z.parse(schema, JSON.parse(text.toString()));
  } catch {
    return undefined;
  }
}
