import type { Multipart } from '@fastify/multipart';
import type { FastifyRequest } from 'fastify';
import { RequestRefused } from './problem.ts';

/** Limits of a form, beside those of the service. */
type FormLimits = NonNullable<NonNullable<Parameters<FastifyRequest['parts']>[0]>['limits']>;

/**
 * Reads a form part by part.
 *
 * @param take takes all of a part, before the next one comes
 * @throws {RequestRefused} `request.invalid` for a form that is cut off or has no boundary; the errors of `take`
 */
export async function readForm(
  request: FastifyRequest,
  take: (part: Multipart) => void | Promise<void>,
  limits: FormLimits = {},
): Promise<void> {
  try {
    for await (const part of request.parts({ limits })) await take(part);
  } catch (error) {
    // Our errors and those of the plugin have codes, those of its parser have none.
    if ((error as { code?: string }).code !== undefined) throw error;
    throw new RequestRefused('request.invalid', `Cannot take the form: ${(error as Error).message.slice(0, 200)}.`);
  }
}
