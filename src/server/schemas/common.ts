import * as z from 'zod';
import type { Problem } from '../http/problem.ts';

/** Base of the routes. */
export const API_BASE = '/api/v1';

/** The fields of {@link Problem}. */
export const problemFields: Record<keyof Problem, z.ZodType> = {
  type: z.string(),
  code: z.string(),
  status: z.int(),
  detail: z.string(),
  hint: z.string(),
  requestId: z.string(),
  errors: z.array(z.object({ pointer: z.string(), detail: z.string() })),
};

/** The body of every error. */
export const problemSchema: z.ZodType<Problem> = z
  .object(problemFields)
  .meta({ id: 'Problem', description: 'An error (RFC 9457).' }) as unknown as z.ZodType<Problem>;

/** Answers with a body of {@link problemSchema} that any route may give. */
export const problems: Record<'4xx' | '5xx', z.ZodType<Problem>> = { '4xx': problemSchema, '5xx': problemSchema };

/** A number in a query. */
export function numberInQuery(minimum: number, maximum: number): z.ZodType<number> {
  return z
    .string()
    .regex(/^\d{1,15}$/)
    .transform(Number)
    .pipe(z.int().min(minimum).max(maximum));
}

/** The number of a resource in a path. Other texts name no resource. */
export const idInPath: z.ZodType<{ id: string }> = z.strictObject({ id: z.string().max(100) });

/** An answer without a body. */
export const noContent: z.ZodType<null> = z.null().meta({ description: 'Done.' });

/** An answer with plain bytes. */
export const bytesAnswer: { description: string; content: Record<string, { schema: z.ZodType }> } = {
  description: 'The bytes.',
  content: { 'application/octet-stream': { schema: z.any() } },
};

/** An answer with Server-Sent Events. */
export const eventsAnswer: typeof bytesAnswer = {
  description: 'A stream of events. The data of each is one JSON object; docs/service.md has its forms.',
  content: { 'text/event-stream': { schema: z.string() } },
};
