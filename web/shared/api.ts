import type { KindForm } from '../../src/registry/kinds/kind-object.ts';
import type { Problem } from '../../src/server/http/problem.ts';

const BASE = '/api/v1';

/** An error of the service, or of the connection to it. */
export class ApiError extends Error {
  readonly status: number;
  readonly problem: Partial<Problem>;

  constructor(status: number, problem: Partial<Problem>) {
    super(problem.detail ?? 'Cannot reach the service.');
    this.status = status;
    this.problem = problem;
  }
}

/** One request. */
export interface AskOptions {
  method?: string;
  /** Sent as JSON; a form as it is. */
  body?: unknown;
  headers?: Record<string, string>;
}

/** Filters in an address. Empty ones are left out. */
export type Filters = Record<string, string | number | null | undefined>;

/** The address of a resource of the API. Parts are escaped by the caller. */
export function apiPath(path: string, filters: Filters = {}): string {
  const given = Object.entries(filters).filter(([, value]) => value !== undefined && value !== null && value !== '');
  const query = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString();
  return `${BASE}${path}${query === '' ? '' : `?${query}`}`;
}

/**
 * Sends a request.
 *
 * @throws {ApiError} for an answer that is no success, and for none
 */
export async function send(path: string, { method, body, headers = {} }: AskOptions = {}): Promise<Response> {
  const isForm = body === undefined || body instanceof FormData;
  let answer: Response;
  try {
    answer = await fetch(path.startsWith(BASE) ? path : apiPath(path), {
      method: method ?? (body === undefined ? 'GET' : 'POST'),
      headers: isForm ? headers : { 'content-type': 'application/json', ...headers },
      ...(body === undefined ? {} : { body: isForm ? body : JSON.stringify(body) }),
    });
  } catch {
    throw new ApiError(0, { hint: 'See whether the service runs, and try again.' });
  }
  if (answer.ok) return answer;
  throw new ApiError(answer.status, await problemIn(answer));
}

/** Sends a request, and reads the JSON of its answer. */
export async function ask<Answer>(path: string, options: AskOptions = {}): Promise<Answer> {
  const answer = await send(path, options);
  return (answer.status === 204 ? undefined : await answer.json()) as Answer;
}

/** An object of the registry with the ETag that a change is based on. */
export interface Tagged {
  form: KindForm;
  etag: string;
}

/** Reads an object of the registry. */
export async function askTagged(path: string): Promise<Tagged> {
  const answer = await send(path);
  return { form: (await answer.json()) as KindForm, etag: answer.headers.get('etag') ?? '' };
}

async function problemIn(answer: Response): Promise<Partial<Problem>> {
  const isProblem = /json/.test(answer.headers.get('content-type') ?? '');
  return isProblem ? ((await answer.json()) as Problem) : { detail: `The service answered with ${answer.status}.` };
}
