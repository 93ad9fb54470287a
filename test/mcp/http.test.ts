import { once } from 'node:events';
import { type IncomingMessage, request as send } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BEST_LEVEL } from '../fixtures/levels.ts';
import { startMcpClient } from '../fixtures/mcp-clients/mcp-client.ts';
import { levelFlags, type McpHttpServer, startMcpServer, TOKEN } from '../fixtures/mcp-server.ts';
import { forgetPeak, peakMemory } from '../fixtures/peak-memory.ts';
import { IS_SAMPLE } from '../fixtures/share.ts';
import { until } from '../fixtures/until.ts';

const MIB = 1024 * 1024;
const PING = { jsonrpc: '2.0', id: 1, method: 'ping' };
const HEADERS = {
  authorization: `Bearer ${TOKEN}`,
  'content-type': 'application/json',
  accept: 'application/json, text/event-stream',
};

let server: McpHttpServer;
let port = 0;
beforeAll(async () => {
  // A small young generation: garbage that waits in it, up to tens of MiB, would pass for growth.
  server = await startMcpServer(await levelFlags(BEST_LEVEL), { NODE_OPTIONS: '--max-semi-space-size=2' });
  port = Number(new URL(server.url).port);
});
afterAll(() => server[Symbol.asyncDispose]());

interface Answer {
  status: number;
  headers: IncomingMessage['headers'];
  text: string;
}

interface Sent {
  method?: string;
  path?: string;
  /** Headers in place of the right ones; undefined leaves one out. */
  headers?: Record<string, string | undefined>;
  body?: string | Buffer;
}

/** Sends a request of which a test may choose every part, even the Host. */
async function ask({
  method = 'POST',
  path = '/mcp',
  headers = {},
  body = JSON.stringify(PING),
}: Sent): Promise<Answer> {
  const all = Object.entries({ ...HEADERS, ...headers }).filter(([, value]) => value !== undefined);
  const request = send({ host: '127.0.0.1', port, path, method, headers: Object.fromEntries(all), agent: false });
  request.end(method === 'POST' ? body : undefined);
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  const parts: Buffer[] = [];
  for await (const part of response) parts.push(part as Buffer);
  return { status: response.statusCode ?? 0, headers: response.headers, text: Buffer.concat(parts).toString() };
}

describe('a server over HTTP', () => {
  it('answers a request with its token', async () => {
    const { status, text } = await ask({});
    expect(status).toBe(200);
    expect(text).toContain('"result":{}');
  });

  it('listens on the loopback only', async () => {
    const { readFileSync } = await import('node:fs');
    const listening = ['tcp', 'tcp6'].flatMap((name) =>
      readFileSync(`/proc/net/${name}`, 'latin1')
        .split('\n')
        .map((line) => line.trim().split(/\s+/))
        .filter(
          (fields) => fields[3] === '0A' && fields[1]?.endsWith(`:${port.toString(16).toUpperCase().padStart(4, '0')}`),
        )
        .map((fields) => fields[1]?.split(':')[0]),
    );
    expect(listening).toEqual(['0100007F']);
  });

  it.each([
    ['no token', { authorization: undefined }],
    ['another token', { authorization: 'Bearer another-token-of-tests-0' }],
    ['the beginning of the token', { authorization: `Bearer ${TOKEN.slice(0, -1)}` }],
    ['another scheme', { authorization: `Basic ${Buffer.from(`x:${TOKEN}`).toString('base64')}` }],
    ['the token without its scheme', { authorization: TOKEN }],
  ])('refuses %s', async (_what, headers) => {
    const { status, headers: given, text } = await ask({ headers });
    expect([status, given['www-authenticate']]).toEqual([401, 'Bearer realm="skillcell"']);
    expect(JSON.parse(text)).toMatchObject({ jsonrpc: '2.0', id: null, error: { code: -32000 } });
    expect(text).not.toContain(TOKEN);
  });

  it.each([
    ['a foreign Host', { host: 'evil.example' }],
    ['a foreign Host with the port', { host: 'evil.example:80' }],
    ['a Host that only begins like ours', { host: '127.0.0.1.evil.example' }],
    ['an invalid Host', { host: '[' }],
    ['a foreign Origin', { origin: 'https://evil.example' }],
    ['an opaque Origin', { origin: 'null' }],
    ['an Origin that only begins like ours', { origin: 'http://localhost.evil.example' }],
  ])('refuses %s, with the token and without', async (_what, headers) => {
    for (const authorization of [HEADERS.authorization, undefined]) {
      const { status, headers: given, text } = await ask({ headers: { ...headers, authorization } });
      expect(status).toBe(403);
      expect(given['access-control-allow-origin']).toBeUndefined();
      expect(JSON.parse(text)).toMatchObject({ error: { code: -32000 } });
    }
  });

  it('answers a page of this machine that has the token', async () => {
    expect((await ask({ headers: { host: `localhost:${port}`, origin: 'http://localhost:3000' } })).status).toBe(200);
  });

  it.each<[string, Sent, number, number?]>([
    ['another path', { path: '/' }, 404],
    ['a GET', { method: 'GET' }, 405],
    ['a DELETE', { method: 'DELETE' }, 405],
    ['a body that is no JSON', { body: '{"jsonrpc":' }, 400, -32700],
    ['a body that is no message', { body: '{"hello":1}' }, 400, -32600],
    ['a batch', { body: JSON.stringify([PING, PING]) }, 400, -32600],
    ['a body that is nested too deeply', { body: '['.repeat(100_000) }, 400, -32700],
    [
      'a body of very many values',
      { body: `{"jsonrpc":"2.0","id":1,"method":"ping","params":[${'1,'.repeat(200_000)}1]}` },
      400,
      -32700,
    ],
    [
      'a body with a key that reaches a prototype',
      { body: '{"jsonrpc":"2.0","id":1,"method":"ping","params":{"__proto__":{}}}' },
      400,
      -32700,
    ],
    ['a body that is too large', { body: Buffer.alloc(5 * 1024 * 1024, 32) }, 413],
    ['a body of another type', { headers: { 'content-type': 'text/plain' } }, 415],
  ])('refuses %s with a code', async (_what, sent, status, code = -32000) => {
    const answer = await ask(sent);
    expect(answer.status).toBe(status);
    expect((JSON.parse(answer.text) as { error: { code: number } }).error.code).toBe(code);
  });

  it('names the refused request, if that can be seen', async () => {
    const idOf = async (body: object): Promise<unknown> =>
      (JSON.parse((await ask({ body: JSON.stringify(body) })).text) as { id: unknown }).id;
    expect(await idOf({ ...PING, id: 'mine', params: [] })).toBe('mine');
    expect(await idOf({ ...PING, id: [1], params: [] })).toBe(null);
  });

  it('ends by SIGTERM, with its sessions and sandboxes', async () => {
    const own = await startMcpServer(await levelFlags(BEST_LEVEL));
    await using client = startMcpClient('v2');
    await client.connect({ url: own.url, token: TOKEN });
    await client.run('open_session', {});
    const { tmpdir } = await import('node:os');
    const { ownerOf, outsideView } = await import('../chaos/outside-view.ts');
    const owner = ownerOf(own.process.pid ?? 0) ?? 'no-owner';
    const view = outsideView(tmpdir(), undefined);
    expect(await view.leftovers(owner)).not.toEqual([]);
    own.process.kill('SIGTERM');
    const [code] = (await once(own.process, 'close')) as [number];
    expect(code).toBe(143);
    await until(async () => (await view.leftovers(owner)).length === 0, 'an end of the sandboxes');
    await own[Symbol.asyncDispose]();
  });

  if (IS_SAMPLE) return;
  it('does not grow by requests, with the token or without', async () => {
    const { pid = 0 } = server.process;
    const body = Buffer.alloc(3 * MIB, '[1],');
    // The memory for as many requests at once is no growth.
    await Promise.allSettled(Array.from({ length: 30 }, () => ask({ body })));
    const before = forgetPeak(pid);
    const statuses: Record<string, number> = {};
    for (let round = 0; round < 10; round += 1) {
      const headers = round % 2 === 0 ? {} : { authorization: undefined };
      // A server that refuses an unread request ends the connection, which a client may notice while it writes.
      const answers = await Promise.allSettled(Array.from({ length: 30 }, () => ask({ body, headers })));
      for (const answer of answers) {
        const status = answer.status === 'fulfilled' ? String(answer.value.status) : 'cut';
        statuses[status] = (statuses[status] ?? 0) + 1;
      }
    }
    const { cut: _cut, ...others } = statuses;
    expect(Object.keys(others).filter((status) => !['400', '401', '503'].includes(status))).toEqual([]);
    expect(Object.values(others).length).toBeGreaterThan(0);
    expect((peakMemory(pid) - before) / MIB).toBeLessThanOrEqual(64);
    expect((await ask({})).status).toBe(200);
  });

  it('serves clients side by side, each its own jobs', async () => {
    await using first = startMcpClient('v1');
    await using second = startMcpClient('v2, newest revision');
    await Promise.all([first, second].map((client) => client.connect({ url: server.url, token: TOKEN })));
    const runs = await Promise.all(
      [first, second, first, second].map((client, index) =>
        client.run('run_code', { code: `export default ${index};` }),
      ),
    );
    expect(runs.map(({ structuredContent }) => structuredContent['value'])).toEqual([0, 1, 2, 3]);
    // A session belongs to no connection: its id is an argument.
    const { session } = (await first.run('open_session', {})).structuredContent as { session: string };
    await first.run('run_code', { session, code: 'const shared = 7;' });
    expect((await second.run('run_code', { session, code: 'shared' })).structuredContent).toMatchObject({ value: 7 });
    await second.run('close_session', { session });
  });
});
