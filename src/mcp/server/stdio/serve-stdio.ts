import type { Readable, Writable } from 'node:stream';
import { serveStdio as serve } from '@modelcontextprotocol/server/stdio';
import type { McpHost } from '../create-mcp-host.ts';
import { createLineTransport } from './line-transport.ts';

/** One client over standard input and output. */
export interface StdioConnection {
  /** Resolves when the client is gone, or it was closed. */
  ended: Promise<void>;
  close(): Promise<void>;
}

/** Serves the client at the other end of two streams; both revisions of the protocol. */
export function serveStdio(
  host: McpHost,
  input: Readable,
  output: Writable,
  log: (line: string) => void,
): StdioConnection {
  const transport = createLineTransport(input, output);
  const connection = serve(() => host.face(), {
    transport,
    onerror: (error) => log(error.message),
    maxSubscriptions: 16,
  });
  return { ended: transport.ended, close: () => connection.close() };
}
