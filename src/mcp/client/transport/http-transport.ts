import type { JSONRPCMessage, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { withinDeadline } from '../../../protocol/within-deadline.ts';
import { boundedFetch } from './bounded-fetch.ts';
import { completeResults } from '../../../library/stores/mcp/complete-result.ts';
import type { LoadedSdk } from './load-sdk.ts';
import type { McpAddress } from '../mcp-servers.ts';
import type { McpTransport } from './mcp-transport.ts';
import type { TransportFault } from './transport-fault.ts';

/** The least delay before a stream is resumed: a server may ask for it at once, again and again. */
const LEAST_DELAY_MS = 250;
const FAREWELL_MS = 1_000;

/** Marks the stand-in for an answer that will not come. It is compared by identity, so no server can send it. */
export const LOST_ANSWER: object = {};

/** Speaks with a server by streamable HTTP, in bounded memory. */
export function createHttpTransport({ url, headers }: McpAddress, sdk: LoadedSdk): McpTransport {
  let held = false;
  let fault: string | undefined;
  const refuse = ({ message }: TransportFault): void => {
    fault ??= message;
    void close();
  };
  const inner = new sdk.StreamableHTTPClientTransport(new URL(url), {
    requestInit: { headers: { ...headers } },
    fetch: boundedFetch({ isAwaited: () => held, onRefused: refuse }),
    reconnectionScheduler(reconnect, delay) {
      const timer = setTimeout(reconnect, Math.max(delay, LEAST_DELAY_MS));
      return () => clearTimeout(timer);
    },
  });
  completeResults(inner);
  const send = inner.send.bind(inner);
  const close = inner.close.bind(inner);
  return Object.defineProperty(
    Object.assign(inner, {
      // The SDK would wait for an answer even after its stream is gone.
      send: async (message: JSONRPCMessage, options?: Parameters<typeof send>[1]) =>
        await send(message, { ...options, onRequestStreamEnd: () => answerLost(inner, message) }),
      async close() {
        await endSession(inner);
        await close();
      },
      ref() {
        held = true;
      },
      unref() {
        held = false;
      },
    }),
    'fault',
    { get: () => fault },
  ) as unknown as McpTransport;
}

/** If the request has its answer already, the SDK ignores this one. */
function answerLost(transport: StreamableHTTPClientTransport, message: JSONRPCMessage): void {
  if (!('method' in message) || !('id' in message)) return;
  const error = { code: -32_000, message: 'The answer broke off.', data: LOST_ANSWER };
  transport.onmessage?.({ jsonrpc: '2.0', id: message.id, error });
}

/** Asks the server to end the session. A server that does not answer drops the session by itself some time. */
async function endSession(transport: StreamableHTTPClientTransport): Promise<void> {
  if (transport.sessionId === undefined) return;
  const farewell = transport.terminateSession().catch(() => undefined);
  await withinDeadline(farewell, { limitMs: FAREWELL_MS, overdue: () => undefined });
}
