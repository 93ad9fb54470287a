import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler, type JSONRPCMessage } from '@modelcontextprotocol/server';
import { SkillcellError } from '../../contracts/skillcell-error.ts';
import { createTokenCheck } from './token-check.ts';
import type { McpHost } from './create-mcp-host.ts';
import { guardRequest, MCP_PATH } from './http-guard.ts';
import { HttpRefused, refuse } from './http-refusal.ts';
import { createLegacyCancellation } from './legacy-cancellation.ts';
import { createBodyReader, RETRY } from './read-body.ts';
import { MESSAGE_BYTES } from './read-message.ts';
import { createReadTurns } from './read-turns.ts';

/** Who may reach this server, and no other machine. */
const ADDRESS = '127.0.0.1';
const MOST_CONNECTIONS = 256;
const MOST_REQUESTS = 64;
/** What a client may take to send the head of a request, and all of it. */
const HEAD_MS = 10_000;
const REQUEST_MS = 30_000;

/** Options of {@link serveHttp}. */
export interface ServeHttpOptions {
  /** 0 for a free one. */
  port: number;
  /** Every request has to have it. */
  token: string;
  log(line: string): void;
}

/** A server that listens. */
export interface HttpListener {
  url: string;
  close(): Promise<void>;
}

/** Serves any number of clients over HTTP, on the loopback only; both revisions of the protocol, without a state of their connections. */
export async function serveHttp(host: McpHost, { port, token, log }: ServeHttpOptions): Promise<HttpListener> {
  const isAllowed = createTokenCheck(token);
  const cancellation = createLegacyCancellation();
  const readBody = createBodyReader();
  const turns = createReadTurns();
  const onerror = (error: Error): void => log(error.message);
  const handler = createMcpHandler(() => host.face(), {
    onerror,
    maxSubscriptions: 16,
    maxRequestBodySize: MESSAGE_BYTES,
  });
  let underWay = 0;

  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    guardRequest(request, isAllowed);
    if (underWay >= MOST_REQUESTS) throw new HttpRefused(503, `${MOST_REQUESTS} requests are under way`, RETRY);
    underWay += 1;
    response.once('close', () => (underWay -= 1));
    const message = await readBody(request);
    if (isRead(message)) response.once('close', await turnOf(turns));
    cancellation.take(request, message);
    const { signal, forget } = cancellation.follow(request, message);
    response.once('close', forget);
    for (const [name, value] of Object.entries(cancellation.headersFor(message))) response.setHeader(name, value);
    const fetch: typeof handler.fetch = (web, options) =>
      handler.fetch(new Request(web, { signal: AbortSignal.any([web.signal, signal]) }), options);
    await toNodeHandler({ fetch }, { onerror })(request as never, response, message);
  };

  const server = createServer(
    { headersTimeout: HEAD_MS, requestTimeout: REQUEST_MS, connectionsCheckingInterval: 1_000 },
    (request, response) => {
      answer(request, response).catch((error: unknown) => {
        if (response.headersSent || response.destroyed) response.destroy();
        else if (error instanceof HttpRefused) refuse(request, response, error);
        else {
          log(String(error));
          refuse(request, response, new HttpRefused(500, 'the server failed', { code: -32603 }));
        }
      });
    },
  );
  server.maxConnections = MOST_CONNECTIONS;
  await listen(server, port);
  const address = server.address() as AddressInfo;
  return {
    url: `http://${ADDRESS}:${address.port}${MCP_PATH}`,
    async close() {
      await handler.close();
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

async function listen(server: ReturnType<typeof createServer>, port: number): Promise<void> {
  try {
    server.listen(port, ADDRESS);
    await once(server, 'listening');
  } catch (cause) {
    const message = `Cannot listen on ${ADDRESS}: ${(cause as Error).message}, got port ${port}.`;
    throw new SkillcellError('mcp.unavailable', message, { cause, hint: 'Name a port that is free, or 0 for any.' });
  }
}

function isRead(message: JSONRPCMessage): boolean {
  return 'method' in message && message.method === 'resources/read';
}

async function turnOf(turns: ReturnType<typeof createReadTurns>): Promise<() => void> {
  try {
    return await turns.take();
  } catch (error) {
    if (!SkillcellError.isInstance(error)) throw error;
    throw new HttpRefused(503, error.message, RETRY);
  }
}
