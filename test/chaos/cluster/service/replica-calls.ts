import { setTimeout as pause } from 'node:timers/promises';
import { digestOf } from '../cluster-jobs.ts';
import type { SeenEvent } from './replica-history.ts';

/** One answer of a replica, read to its end. */
export interface ReplicaAnswer {
  status: number;
  text: string;
  // oxlint-disable-next-line typescript/no-explicit-any -- Single fields of many schemas are compared.
  json: any;
}

/** A request. */
export interface ReplicaRequest {
  method?: string;
  body?: object;
  headers?: Record<string, string>;
}

/** A service behind a plain balancer, as a client with a token sees it. */
export interface ReplicaCaller {
  /** Asks a replica until one answers surely: not with 503, nor with a cut connection. */
  call(path: string, request?: ReplicaRequest): Promise<ReplicaAnswer>;
  /** Opens a stream of events after a place; undefined without one. */
  stream(id: string, after: string | undefined, signal: AbortSignal): Promise<Response | undefined>;
}

/** Options of {@link replicaCaller}. */
export interface ReplicaCallerOptions {
  token: string;
  /** The address for the next request. */
  next(): string;
  blame(fault: string): void;
}

/** A request without an answer is given up after this time: its packets may be lost. */
const GIVEN_UP_MS = 20_000;
/** A client that has no sure answer for this long is a fault. */
const NEVER_MS = 180_000;
const RETRY_MS = 200;

/** Creates a caller, which checks what holds for each answer. */
export function replicaCaller({ token, next, blame }: ReplicaCallerOptions): ReplicaCaller {
  const authorization = `Bearer ${token}`;
  const judge = (what: string, { status, headers }: Response, text: string): void => {
    if (status === 503 && headers.get('retry-after') === null) blame(`${what} is 503 without Retry-After: ${text}`);
    if (status >= 500 && status !== 503) blame(`${what} is ${status}: ${text}`);
  };
  return {
    async call(path, { method, body, headers } = {}) {
      const startedAt = performance.now();
      const what = `${method ?? (body === undefined ? 'GET' : 'POST')} ${path}`;
      let last = 'no answer';
      for (let isLate = false; ; await pause(RETRY_MS)) {
        try {
          const answer = await fetch(`${next()}/api/v1${path}`, {
            method: method ?? (body === undefined ? 'GET' : 'POST'),
            headers: {
              authorization,
              ...(body === undefined ? {} : { 'content-type': 'application/json' }),
              ...headers,
            },
            ...(body === undefined ? {} : { body: JSON.stringify(body) }),
            signal: AbortSignal.timeout(GIVEN_UP_MS),
          });
          const text = await answer.text();
          judge(what, answer, text);
          const { status } = answer;
          if (status < 500) return { status, text, json: text.startsWith('{') ? (JSON.parse(text) as unknown) : null };
          last = text;
        } catch (error) {
          // Refused, cut or lost: it is tried again elsewhere.
          last = String((error as Error).cause ?? error);
        }
        if (!isLate && performance.now() - startedAt > NEVER_MS) {
          isLate = true;
          blame(`${what} had no sure answer for ${NEVER_MS} ms: ${last}`);
        }
      }
    },
    async stream(id, after, signal) {
      try {
        const headers = { authorization, ...(after === undefined ? {} : { 'last-event-id': after }) };
        const answer = await fetch(`${next()}/api/v1/jobs/${id}/events`, { headers, signal });
        if (answer.status === 200) return answer;
        const text = await answer.text();
        judge(`the events of ${id}`, answer, text);
        if (answer.status < 500)
          blame(`the events of ${id} after ${after} are answered with ${answer.status}: ${text}`);
      } catch {
        // Refused, cut or lost: it is tried again elsewhere.
      }
      return undefined;
    },
  };
}

/** Reads events from a stream until it ends, is cut, or has had so many bytes. Whole events are kept. @returns whether the last event is read */
export async function readEvents(
  { body }: Response,
  events: SeenEvent[],
  { bytes, silentMs, cut }: { bytes: number; silentMs: number; cut: AbortController },
): Promise<boolean> {
  const decoder = new TextDecoder();
  let text = '';
  let left = bytes;
  let isLast = false;
  const silent = setTimeout(() => cut.abort(), silentMs);
  try {
    for await (const piece of body ?? []) {
      silent.refresh();
      text += decoder.decode((piece as Uint8Array).subarray(0, left), { stream: true });
      const blocks = text.split('\n\n');
      text = blocks.pop() ?? '';
      for (const block of blocks) {
        const { id, data } = /^id: (?<id>\d+\.\d+)\ndata: (?<data>.*)$/s.exec(block)?.groups ?? {};
        if (id === undefined || data === undefined) continue;
        events.push({ id, bytes: Buffer.byteLength(data), digest: digestOf(data) });
        isLast ||= data.startsWith('{"type":"finished"');
      }
      left -= (piece as Uint8Array).length;
      if (left <= 0) break;
    }
  } catch {
    // It was cut.
  } finally {
    clearTimeout(silent);
    cut.abort();
  }
  return isLast;
}
