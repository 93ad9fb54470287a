import type { FetchLike } from '@modelcontextprotocol/client';
import { createEventGate } from './event-gate.ts';
import { MESSAGE_BYTES, parseMessage, tooLong, TransportFault } from './transport-fault.ts';

/** Of an answer that says no; nobody reads more of its reason. */
const REFUSAL_BYTES = 64 * 1024;

/** Options of {@link boundedFetch}. */
export interface BoundedFetchOptions {
  /** Whether somebody waits for an answer. */
  isAwaited(): boolean;
  /** Gets what is wrong with an answer that is refused. */
  onRefused(fault: TransportFault): void;
}

/**
 * A fetch whose answers are bounded: JSON is there as a whole and was looked at, and streams bring events that were.
 *
 * A stream for what a server has to say by itself is never asked for: none of that is answered. One that brings the rest of an answer is, as long as
 * somebody waits for it.
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

/** What stops at the gate ends the stream, whose reader only sees that it broke off. */
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
