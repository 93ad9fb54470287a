import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { isInitializeRequest, isJSONRPCRequest, type JSONRPCMessage } from '@modelcontextprotocol/server';

const SESSION_HEADER = 'mcp-session-id';

/**
 * Cancellation for clients of the revisions up to 2025-11-25, which send it as a separate message beside the request.
 * Each client gets an id at the beginning and sends it with each message; only its requests under way are kept.
 */
export interface LegacyCancellation {
  /** The headers of an answer that gives a client its id. */
  headersFor(message: JSONRPCMessage): Record<string, string>;
  /** A signal for a request, and a function that forgets it. */
  follow(request: IncomingMessage, message: JSONRPCMessage): { signal: AbortSignal; forget(): void };
  /** Aborts the request that a message cancels, if both are from the same client. */
  take(request: IncomingMessage, message: JSONRPCMessage): void;
}

/** Starts without requests. */
export function createLegacyCancellation(): LegacyCancellation {
  const underWay = new Map<string, AbortController>();
  return {
    headersFor: (message) => (isInitializeRequest(message) ? { [SESSION_HEADER]: randomUUID() } : {}),
    follow(request, message) {
      const controller = new AbortController();
      const { signal } = controller;
      const key = isJSONRPCRequest(message) ? keyOf(request, message.id) : undefined;
      if (key === undefined) return { signal, forget: () => undefined };
      underWay.set(key, controller);
      const forget = (): void => {
        if (underWay.get(key) === controller) underWay.delete(key);
      };
      return { signal, forget };
    },
    take(request, message) {
      if (!('method' in message) || message.method !== 'notifications/cancelled') return;
      const key = keyOf(request, message.params?.['requestId']);
      if (key !== undefined) underWay.get(key)?.abort(new Error('the client canceled it'));
    },
  };
}

function keyOf({ headers }: IncomingMessage, id: unknown): string | undefined {
  const session = headers[SESSION_HEADER];
  return typeof session === 'string' ? JSON.stringify([session, id]) : undefined;
}
