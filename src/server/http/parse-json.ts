import type { FastifyInstance } from 'fastify';
import { JsonRefused, parseBoundedJson } from '../../protocol/channel/bounded-json.ts';
import { RequestRefused } from './problem.ts';

/** Reads bodies of JSON: no `__proto__`, no deep nesting, and a bounded number of values. */
export function parseJsonBodies(app: FastifyInstance): void {
  app.removeContentTypeParser(['application/json', 'text/plain']);
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_request, body, done) => {
    try {
      done(null, parseJson(body as Buffer));
    } catch (error) {
      done(error as Error);
    }
  });
}

/**
 * Parses JSON of a request.
 *
 * @param bytes within the limit of the body
 * @throws {RequestRefused} `request.invalid`
 */
export function parseJson(bytes: Uint8Array): unknown {
  try {
    return parseBoundedJson(bytes, { maxBytes: bytes.length });
  } catch (error) {
    if (!(error instanceof JsonRefused)) throw error;
    const reason = `it is no JSON that is taken here (${error.message.slice(0, 200)})`;
    throw new RequestRefused('request.invalid', `Cannot read the body: ${reason}.`, [{ pointer: '', detail: reason }]);
  }
}
