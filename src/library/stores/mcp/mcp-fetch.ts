import type { FetchLike } from '@modelcontextprotocol/client';
import { checkedFetch, type OutgoingRequest } from '../../../outgoing/checked-fetch.ts';
import { outgoingRefused, shownUrl } from '../../../outgoing/outgoing-refused.ts';
import { JsonRefused, parseBoundedJson } from '../../../protocol/channel/bounded-json.ts';

/** Limit of one answer: the largest file of a skill as base64, and some JSON around it. */
const MESSAGE_BYTES = 24 * 1024 * 1024;
/** Limit of all answers to one call, such as the pages of a list. */
const CALL_BYTES = 32 * 1024 * 1024;
const MESSAGE_CAPS = { maxBytes: MESSAGE_BYTES, maxDepth: 64, maxValues: 200_000 };
const WITHOUT_BODY: ReadonlySet<number> = new Set([204, 205, 304]);

/** Bytes that a server may still send for a call. */
export interface AnswerBudget {
  left: number;
}

/** A new budget for one call. */
export function answerBudget(): AnswerBudget {
  return { left: CALL_BYTES };
}

/** Options of {@link mcpFetch}. */
export interface McpFetchOptions {
  request: OutgoingRequest;
  budget: AnswerBudget;
  /** Receives the error of a refused or failed request: the SDK does not always pass it on. */
  onFault(error: unknown): void;
}

/**
 * A fetch for the SDK, over checked connections. It answers requests for a stream of server-initiated messages with 405; only a request to resume
 * an answer is sent.
 */
export function mcpFetch({ request, budget, onFault }: McpFetchOptions): FetchLike {
  const ask: FetchLike = async (url, init) => {
    if (init?.method === 'GET' && !new Headers(init.headers).has('last-event-id'))
      return new Response(null, { status: 405 });
    const { status, headers, body, discard, ...from } = await checkedFetch(String(url), {
      ...request,
      method: init?.method,
      headers: Object.fromEntries(new Headers(init?.headers)),
      body: init?.body as string | undefined,
      signal: init?.signal ?? undefined,
      maxBytes: Math.min(MESSAGE_BYTES, budget.left),
    });
    if (WITHOUT_BODY.has(status)) {
      discard();
      return new Response(null, { status, headers });
    }
    const isStream = /^text\/event-stream\b/i.test(headers.get('content-type') ?? '');
    if (isStream) return new Response(ReadableStream.from(watched(body, budget, onFault)), { status, headers });
    const pieces: Buffer[] = [];
    for await (const piece of body) pieces.push(piece);
    const bytes = Buffer.concat(pieces);
    budget.left -= bytes.length;
    if (bytes.length > 0) checkJson(bytes, shownUrl(from.url));
    return new Response(bytes, { status, headers });
  };
  return async (url, init) => {
    try {
      return await ask(url, init);
    } catch (error) {
      onFault(error);
      throw error;
    }
  };
}

async function* watched(
  body: AsyncIterable<Buffer>,
  budget: AnswerBudget,
  onFault: (error: unknown) => void,
): AsyncGenerator<Buffer> {
  try {
    for await (const piece of body) {
      budget.left -= piece.length;
      yield piece;
    }
  } catch (error) {
    onFault(error);
    throw error;
  }
}

/** The SDK never gets JSON that is costly to parse or could reach a prototype. Invalid JSON passes: the SDK reports it. */
function checkJson(bytes: Buffer, shown: string): void {
  try {
    parseBoundedJson(bytes, MESSAGE_CAPS);
  } catch (error) {
    if (!(error instanceof JsonRefused)) throw error;
    if (error.cause === undefined || isForbiddenKey(error.cause)) throw outgoingRefused('its answer is refused', shown);
  }
}

function isForbiddenKey(cause: unknown): boolean {
  return cause instanceof SyntaxError && cause.message.includes('forbidden prototype property');
}
