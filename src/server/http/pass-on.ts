import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Dispatcher } from 'undici';
import { SkillcellError } from '../../contracts/errors/skillcell-error.ts';
import { tokenOf } from './authenticate.ts';

/** Marks a request that another process of the service has passed on. It is not passed on again. */
const PASSED_ON = 'x-skillcell-passed-on';
/** Headers of the caller that decide the part and the form of the answer. All others are for this process alone. */
const FORWARDED = ['if-range', 'range', 'sec-fetch-dest'] as const;
/** Headers of one connection. */
const OF_CONNECTION: ReadonlySet<string> = new Set(['connection', 'date', 'keep-alive', 'transfer-encoding']);
/** Time for the head of the answer. */
const HEAD_MS = 10_000;
/** A stream of events has a comment each 15 seconds. */
const SILENCE_MS = 45_000;

/**
 * Asks the process that runs a job, with the token of the caller.
 *
 * @param address of that process
 * @param path with the query, below the address
 * @throws SkillcellError `service.unavailable`
 */
export async function askOther(
  request: FastifyRequest,
  { address, path, signal }: { address: string; path: string; signal: AbortSignal },
): Promise<Dispatcher.ResponseData> {
  if (request.headers[PASSED_ON] !== undefined) throw away(new Error('the job has moved'));
  const headers: Record<string, string> = { [PASSED_ON]: '1', authorization: `Bearer ${tokenOf(request) ?? ''}` };
  for (const name of FORWARDED) {
    const value = request.headers[name];
    if (typeof value === 'string') headers[name] = value;
  }
  const { request: ask } = await import('undici');
  const method = request.method === 'HEAD' ? 'HEAD' : 'GET';
  const timeouts = { headersTimeout: HEAD_MS, bodyTimeout: SILENCE_MS };
  try {
    return await ask(`${address}${path}`, { method, headers, signal, ...timeouts });
  } catch (error) {
    throw away(error);
  }
}

/** The bytes of an answer as they come. @throws SkillcellError `service.unavailable` where that process ends before it */
export async function* bytesOf({ body }: Dispatcher.ResponseData): AsyncGenerator<Buffer> {
  try {
    yield* body as AsyncIterable<Buffer>;
  } catch (error) {
    throw away(error);
  }
}

/** Answers with the answer of another process. */
export function answerAs(reply: FastifyReply, { statusCode, headers, body }: Dispatcher.ResponseData): FastifyReply {
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined && !OF_CONNECTION.has(name)) void reply.header(name, value);
  }
  return reply.code(statusCode).send(body);
}

function away(cause: unknown): SkillcellError {
  return new SkillcellError('service.unavailable', 'Cannot reach the process that runs the job.', {
    cause,
    hint: 'Try again: if that process is gone, another one takes the job up.',
  });
}
