import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { describe, expect, it } from 'vitest';
import type { McpServer } from '../../../src/mcp/client/mcp-servers.ts';
import { program, serverFile } from '../../fixtures/mcp/mcp-scene.ts';

interface Measured {
  came: string;
  grewMib: number;
}

/** Lets a process of its own call a server, and measure itself meanwhile. */
async function measure(server: McpServer): Promise<Measured> {
  const host = spawn(process.execPath, [serverFile('mcp-host'), 'measure', JSON.stringify(server)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [out] = await Promise.all([text(host.stdout), once(host, 'exit')]);
  return JSON.parse(out) as Measured;
}

const MIB = Buffer.alloc(1024 * 1024, 'x');

/** Answers a call by HTTP as it is told to, and other requests like a server. */
async function httpServer(
  answerCall: (id: unknown, response: ServerResponse) => Promise<void>,
): Promise<{ url: string } & AsyncDisposable> {
  const results: Record<string, unknown> = {
    initialize: { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 'h', version: '1' } },
    'tools/list': { tools: [{ name: 'good', inputSchema: { type: 'object' } }] },
  };
  const server = createServer((request: IncomingMessage, response) => {
    void (async () => {
      if (request.method !== 'POST') return void response.writeHead(405).end();
      const { id, method } = JSON.parse(await text(request)) as { id?: unknown; method: string };
      if (id === undefined) return void response.writeHead(202).end();
      if (method === 'tools/call') return await answerCall(id, response);
      const result = results[method];
      const answer = result === undefined ? { error: { code: -32_601, message: 'Method not found' } } : { result };
      response
        .writeHead(200, { 'content-type': 'application/json' })
        .end(JSON.stringify({ jsonrpc: '2.0', id, ...answer }));
    })();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** Sends pieces as fast as they are taken, until the reader is gone. */
async function send(response: ServerResponse, pieces: Iterable<Buffer | string>): Promise<void> {
  await pipeline(Readable.from(pieces), response).catch((error: NodeJS.ErrnoException) => {
    expect(error.code).toBe('ERR_STREAM_PREMATURE_CLOSE');
  });
}

/** A text of so many MiB between two others. */
function* poured(before: string, mib: number, after: string): Generator<Buffer | string> {
  yield before;
  for (let count = 0; count < mib; count += 1) yield MIB;
  yield after;
}

describe('a server that returns 1 GiB', () => {
  const LONG = 'mcp.unavailable The MCP server s sent a message of more than 12582912 bytes.';

  it.each([
    ['in one line', 'one-line', LONG],
    [
      'in messages without a request',
      'many-lines',
      'mcp.unavailable The MCP server s sent more than 16777216 bytes without an answer.',
    ],
  ])('%s is refused, in bounded memory', async (_, mode, came) => {
    const measured = await measure(program('hostile-server', [mode, '1024']));
    expect(measured.came).toBe(came);
    expect(measured.grewMib).toBeLessThan(64);
  });

  it.each([
    [
      'as JSON',
      'application/json',
      '{"jsonrpc":"2.0","id":',
      ',"result":{"content":[{"type":"text","text":"',
      '"}]}}',
      LONG,
    ],
    [
      'as an event',
      'text/event-stream',
      'data: {"jsonrpc":"2.0","id":',
      ',"result":{"content":[{"type":"text","text":"',
      '"}]}}\n\n',
      LONG,
    ],
    ['as a comment', 'text/event-stream', ': ', '', '\n', LONG],
  ])('by HTTP %s is refused, in bounded memory', async (_, type, before, middle, after, came) => {
    await using server = await httpServer(async (id, response) => {
      response.writeHead(200, { 'content-type': type });
      const start = middle === '' ? before : `${before}${JSON.stringify(id)}${middle}`;
      await send(response, poured(start, 1_024, after));
    });
    const measured = await measure({ url: server.url });
    expect(measured.came).toBe(came);
    expect(measured.grewMib).toBeLessThan(64);
  });

  it.each([
    ['as JSON', 'application/json', '{"jsonrpc":"2.0","id":', '"}]}}'],
    ['as an event', 'text/event-stream', 'data: {"jsonrpc":"2.0","id":', '"}]}}\n\n'],
  ])('is refused for its size: 8 MiB %s are accepted', async (_, type, before, after) => {
    await using server = await httpServer(async (id, response) => {
      response.writeHead(200, { 'content-type': type });
      const start = `${before}${JSON.stringify(id)},"result":{"content":[{"type":"text","text":"`;
      await send(response, poured(start, 8, after));
    });
    expect(await measure({ url: server.url })).toMatchObject({ came: 'a value' });
  });

  it('by stdio is refused for its size: 8 MiB are accepted', async () => {
    const measured = await measure(program('hostile-server', ['one-line', '8']));
    expect(measured.came).toBe('a value');
    expect(measured.grewMib).toBeLessThan(64);
  });
});

describe('a server by HTTP', () => {
  it('whose events do not end is refused', async () => {
    await using server = await httpServer(async (_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      const event = `data: {"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"${'x'.repeat(1_000)}"}}\n\n`;
      await send(
        response,
        Array.from({ length: 1_024 }, () => event.repeat(1_000)),
      );
    });
    const measured = await measure({ url: server.url });
    expect(measured.came).toBe('mcp.unavailable The MCP server s sent more than 16777216 bytes without an answer.');
    expect(measured.grewMib).toBeLessThan(64);
  });

  it.each([
    ['a key that is not allowed', '{"__proto__":{"a":1}}', 'no valid JSON, or a key that is not allowed'],
    ['a depth that is not allowed', `{"a":${'['.repeat(1_000)}${']'.repeat(1_000)}}`, 'nested over 100 levels'],
  ])('that sends %s is refused, as JSON and as an event', async (_, value, words) => {
    for (const [type, before, after] of [
      ['application/json', '', ''],
      ['text/event-stream', 'event: message\r\ndata: ', '\r\n\r\n'],
    ] as const) {
      await using server = await httpServer(async (id, response) => {
        const message = `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":{"content":[],"structuredContent":${value}}}`;
        response.writeHead(200, { 'content-type': type }).end(`${before}${message}${after}`);
      });
      const measured = await measure({ url: server.url });
      expect(measured.came).toBe(`mcp.unavailable The MCP server s sent a message that is refused: ${words}.`);
    }
  });

  it.each([
    ['breaks off', 'mcp.unavailable The MCP server s broke off its answer.'],
    ['answers with a status', 'mcp.unavailable The MCP server s answers with the HTTP status 503.'],
    ['is no MCP server', 'mcp.unavailable The MCP server s does not answer as the protocol says.'],
  ])('that %s fails the call', async (what, came) => {
    await using server = await httpServer(async (_, response) => {
      if (what === 'answers with a status') return void response.writeHead(503).end('key=token-of-the-test');
      if (what === 'is no MCP server')
        return void response.writeHead(200, { 'content-type': 'text/html' }).end('<p>hello');
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(': working\n\n');
      response.end();
    });
    expect(await measure({ url: server.url })).toMatchObject({ came });
  });
});
