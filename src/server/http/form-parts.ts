import type { Multipart } from '@fastify/multipart';
import type { FastifyRequest } from 'fastify';
import { RequestRefused } from './problem.ts';

/** Limits of a form, beside those of the service. */
type FormLimits = NonNullable<NonNullable<Parameters<FastifyRequest['parts']>[0]>['limits']>;

/**
 * The parts of a form.
 *
 * @throws {RequestRefused} `request.invalid` for a form that is cut off or has no boundary
 */
export async function* formParts(request: FastifyRequest, limits: FormLimits = {}): AsyncGenerator<Multipart> {
  const parts = request.parts({ limits });
  for (;;) {
    const { done, value } = await parts.next().catch((error: Error & { code?: string }) => {
      if (error.code !== undefined) throw error;
      throw new RequestRefused('request.invalid', `Cannot take the form: ${error.message.slice(0, 200)}.`);
    });
    if (done === true) return;
    yield value;
  }
}
