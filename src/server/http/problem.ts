import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import { errorEntry, type ErrorCode } from '../../contracts/errors/error-registry.ts';
import { SkillcellError } from '../../contracts/errors/skillcell-error.ts';

/** The body of an error (RFC 9457). */
export interface Problem {
  /** Address of the explanation. */
  type: string;
  code: ErrorCode;
  status: number;
  detail: string;
  hint: string;
  requestId: string;
  /** Places in the request. A pointer is a JSON pointer (RFC 6901) into the body, or names a parameter. */
  errors: { pointer: string; detail: string }[];
}

/** A refusal that names places in the request. */
export class RequestRefused extends Error {
  readonly code: ErrorCode;
  readonly places: Problem['errors'];

  constructor(code: ErrorCode, message: string, places: Problem['errors'] = []) {
    super(message);
    this.code = code;
    this.places = places;
  }
}

const TYPE = 'https://skillcell.dev/errors#';
/** Codes of the framework and its plugins that are not about the form of the request. */
const OF_FRAMEWORK: Readonly<Record<string, ErrorCode>> = {
  FST_ERR_CTP_BODY_TOO_LARGE: 'request.too-large',
  FST_REQ_FILE_TOO_LARGE: 'request.too-large',
  FST_PARTS_LIMIT: 'request.too-large',
  FST_FILES_LIMIT: 'request.too-large',
  FST_FIELDS_LIMIT: 'request.too-large',
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'request.media-type',
  FST_INVALID_MULTIPART_CONTENT_TYPE: 'request.media-type',
};
/** Seconds after which a client may try again. */
const RETRY_SECONDS = 1;

/** Answers a failed request. Only failures of the service are logged with their cause. */
export function sendProblem(error: FastifyError | Error, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const problem = problemOf(error, request.id);
  if (problem.code === 'internal.fault') request.log.error({ reason: String(error) }, 'a request failed');
  if (problem.code === 'auth.required') void reply.header('www-authenticate', 'Bearer realm="skillcell"');
  if (problem.status === 503 || problem.status === 429) void reply.header('retry-after', String(RETRY_SECONDS));
  // The rest of a refused body stays unread.
  if (problem.status === 413) void reply.header('connection', 'close');
  return reply.code(problem.status).type('application/problem+json').serializer(JSON.stringify).send(problem);
}

/** @param requestId id in the log */
export function problemOf(error: FastifyError | Error, requestId: string): Problem {
  const { code, detail, hint, places = [] } = told(error);
  const { http, advice } = errorEntry(code);
  return {
    ...{ type: `${TYPE}${code.replaceAll('.', '')}`, code, status: http, detail, hint: hint ?? advice },
    ...{ requestId, errors: places },
  };
}

interface Told {
  code: ErrorCode;
  detail: string;
  hint?: string;
  places?: Problem['errors'];
}

function told(error: FastifyError | Error): Told {
  if (SkillcellError.isInstance(error)) {
    const { code, message, hint, diagnostics } = error;
    const places = diagnostics.map(({ path = '', message: detail }) => ({ pointer: path, detail }));
    return { code, detail: message, hint, places };
  }
  if (error instanceof RequestRefused) return { code: error.code, detail: error.message, places: error.places };
  const { code = '', statusCode = 500 } = error as Partial<FastifyError>;
  const known = OF_FRAMEWORK[code];
  if (known !== undefined) return { code: known, detail: `Cannot take the request: ${error.message}.` };
  if (statusCode < 500) return { code: 'request.invalid', detail: `Cannot take the request: ${error.message}.` };
  return { code: 'internal.fault', detail: 'Cannot answer the request: the service failed.' };
}
