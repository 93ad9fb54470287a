import { setTimeout as pause } from 'node:timers/promises';
import type { ServedJob } from './served-jobs.ts';

/** One answer, read to its end. */
export interface ServiceAnswer {
  status: number;
  /** The path of `Location`, or null. */
  location: string | null;
  text: string;
  // oxlint-disable-next-line typescript/no-explicit-any -- Single fields of many schemas are compared.
  json: any;
}

/** A service that may not be there, as a client with one token sees it. */
export interface ServiceCaller {
  /**
   * Makes a request. An answer whose head came and whose body was cut off has the status and `location`, and no text.
   *
   * @returns undefined if no answer came
   */
  call(path: string, options?: ServiceCall): Promise<ServiceAnswer | undefined>;
  /** The bytes of an answer; undefined without one. */
  bytes(path: string): Promise<Buffer | undefined>;
  /** Opens a stream of events after a place. Rejects when there is no service. */
  events(id: string, after: string | undefined, signal: AbortSignal): Promise<Response>;
}

/** One request. */
export interface ServiceCall {
  method?: string;
  body?: object | FormData;
  headers?: Record<string, string>;
}

/** Statuses that say "perhaps": the change may have been made. */
const UNSURE: readonly number[] = [502, 503, 504];
/** A request without an answer for this long counts as a fault. */
const NEVER_MS = 60_000;

/** Pause of a client whose request had no answer. */
const AWAY_MS = 100;

/** Whether an answer says if the change was made. */
export function isSure(answer: ServiceAnswer | undefined): answer is ServiceAnswer {
  return answer !== undefined && !UNSURE.includes(answer.status);
}

/** Options of {@link serviceCaller}. */
export interface ServiceCallerOptions {
  port: number;
  token: string;
  /** Whether 503 is right for a request that was sent then. */
  isAway(sentAt: number): boolean;
  blame(fault: string): void;
}

/** Calls a service, and checks what holds for each answer. */
export function serviceCaller({ port, token, isAway, blame }: ServiceCallerOptions): ServiceCaller {
  const base = `http://127.0.0.1:${port}/api/v1`;
  const authorization = `Bearer ${token}`;
  return {
    events: (id, after, signal) =>
      fetch(`${base}/jobs/${id}/events`, {
        headers: { authorization, ...(after === undefined ? {} : { 'last-event-id': after }) },
        signal,
      }),
    async bytes(path) {
      const answer = await fetch(`${base}${path}`, { headers: { authorization } });
      return answer.status === 200 ? Buffer.from(await answer.arrayBuffer()) : undefined;
    },
    async call(path, { method, body, headers } = {}) {
      const isForm = body instanceof FormData;
      const sentAt = performance.now();
      const signal = AbortSignal.timeout(NEVER_MS);
      const what = `${method ?? (body === undefined ? 'GET' : 'POST')} ${path}`;
      let answer: Response;
      try {
        answer = await fetch(`${base}${path}`, {
          signal,
          method: method ?? (body === undefined ? 'GET' : 'POST'),
          headers: {
            authorization,
            ...(body === undefined || isForm ? {} : { 'content-type': 'application/json' }),
            ...headers,
          },
          ...(body === undefined ? {} : { body: isForm ? body : JSON.stringify(body) }),
        });
      } catch {
        // The service was killed, or is not there. A client tries no sooner than this.
        await pause(AWAY_MS);
        if (signal.aborted) blame(`${what} had no answer for ${NEVER_MS} ms`);
        return undefined;
      }
      const { status } = answer;
      const location = answer.headers.get('location');
      const text = await answer.text().catch(() => '');
      const isJson = /json/.test(answer.headers.get('content-type') ?? '') && text !== '';
      const json: unknown = isJson ? JSON.parse(text) : undefined;
      if (status === 503) {
        if (answer.headers.get('retry-after') === null) blame(`${what} is 503 without Retry-After`);
        if (!isAway(sentAt)) blame(`${what} is 503 while the service is well: ${text}`);
      } else if (status >= 500) blame(`${what} is ${status}: ${text}`);
      return { status, location, text, json };
    },
  };
}

/** The form of a job with a file. */
export function jobForm({ request, upload }: ServedJob): FormData {
  const form = new FormData();
  form.set('job', JSON.stringify(request));
  if (upload !== undefined) {
    form.set(`files/${upload.destination}`, new Blob([new Uint8Array(upload.bytes)]), 'in.bin');
  }
  return form;
}
