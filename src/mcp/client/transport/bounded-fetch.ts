import type { FetchLike } from '@modelcontextprotocol/client';
import { createEventGate } from './event-gate.ts';
import { MESSAGE_BYTES, parseMessage, tooLong, TransportFault } from './transport-fault.ts';

/** Bytes of an error response; a longer one loses its body. */
const REFUSAL_BYTES = 64 * 1024;

/** Options of {@link boundedFetch}. */
export interface BoundedFetchOptions {
  /** Whether a caller waits for an answer. */
  isAwaited(): boolean;
  /** Receives the fault of a refused response. */
  onRefused(fault: TransportFault): void;
}

/**
 * A fetch with bounded responses: JSON is read whole and checked, and streams bring checked events.
 *
 * A stream for messages that a server starts by itself is never requested: none of them is answered. A stream that brings the rest of an
 * answer is, as long as a caller waits for it.
 */
export function boundedFetch({ isAwaited, onRefused }: BoundedFetchOptions): FetchLike {
  return async (url, init) => {
    const resumedAt = new Headers(init?.headers).get('last-event-id') ?? undefined;
    const resumes = resumedAt !== undefined && isAwaited();
    if (init?.method === 'GET' && !resumes) return new Response(null, { status: 405 });
    const response = await fetch(url, init);
    const isStream = response.ok && /^text\/event-stream\b/i.test(response.headers.get('content-type') ?? '');
    try {
      const body = isStream ? gated(response, onRefused, resumedAt) : await wholeBody(response);
      const { status, statusText, headers } = response;
      return new Response(body, { status, statusText, headers });
    } catch (error) {
      if (error instanceof TransportFault) onRefused(error);
      throw error;
    }
  };
}

/** A refused event ends the stream; its reader only sees that it broke off. */
function gated(
  { body }: Response,
  onRefused: (fault: TransportFault) => void,
  resumedAt: string | undefined,
): ReadableStream<Uint8Array> | null {
  if (body === null) return null;
  const gate = createEventGate(resumedAt);
  body.pipeTo(gate.writable).catch((error: unknown) => {
    if (error instanceof TransportFault) onRefused(error);
  });
  return gate.readable;
}

async function wholeBody({ ok, body, headers }: Response): Promise<Uint8Array<ArrayBuffer> | null> {
  if (body === null) return null;
  const limit = ok ? MESSAGE_BYTES : REFUSAL_BYTES;
  const pieces: Uint8Array[] = [];
  let length = 0;
  // Leaving the loop cancels the rest.
  for await (const piece of body) {
    length += piece.length;
    if (length > limit) break;
    pieces.push(piece);
  }
  if (length > limit && ok) throw tooLong();
  if (length > limit) return null;
  const bytes = Buffer.concat(pieces);
  if (ok && /^application\/json\b/i.test(headers.get('content-type') ?? '')) parseMessage(bytes);
  return bytes;
}
