import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { SkillcellError } from '../../../contracts/errors/skillcell-error.ts';
import type { McpHost } from '../create-mcp-host.ts';
import { createHttpAnswers, type HttpAnswersOptions } from './http-answers.ts';
import { MCP_PATH } from './http-guard.ts';
import { HttpRefused, refuse } from './http-refusal.ts';

/** The loopback: no other machine can reach it. */
const ADDRESS = '127.0.0.1';
const MOST_CONNECTIONS = 256;
/** How long a client may take to send the head of a request, and the whole request. */
const HEAD_MS = 10_000;
const REQUEST_MS = 30_000;

/** Options of {@link serveHttp}. */
export interface ServeHttpOptions extends HttpAnswersOptions {
  /** 0 for a free port. */
  port: number;
}

/** A server that listens. */
export interface HttpListener {
  url: string;
  close(): Promise<void>;
}

/** Serves any number of clients over HTTP, on the loopback only. It speaks both revisions of the protocol and keeps no state of connections. */
export async function serveHttp(host: McpHost, { port, ...options }: ServeHttpOptions): Promise<HttpListener> {
  const answers = createHttpAnswers(host, options);
  const server = createServer(
    { headersTimeout: HEAD_MS, requestTimeout: REQUEST_MS, connectionsCheckingInterval: 1_000 },
    (request, response) => {
      answers.answer(request, response).catch((error: unknown) => {
        if (response.headersSent || response.destroyed) response.destroy();
        else if (error instanceof HttpRefused) refuse(request, response, error);
        else {
          options.log(String(error));
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
      await answers.close();
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
