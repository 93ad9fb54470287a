import { afterEach, describe, expect, it } from 'vitest';
import type { McpTools } from '../../../src/mcp/client/connect-mcp-tools.ts';
import type { McpServer } from '../../../src/mcp/client/mcp-servers.ts';
import {
  call,
  connect,
  program,
  serverLog,
  startHttpServer,
  type HttpServer,
  type ServerLog,
} from '../../fixtures/mcp/mcp-scene.ts';
import { PIXEL } from '../../fixtures/mcp/pixel.ts';

const KINDS = [
  { sdk: 'v2', way: 'stdio' },
  { sdk: 'v2', way: 'http' },
  { sdk: 'v1', way: 'stdio' },
  { sdk: 'v1', way: 'http' },
] as const;

let stack = new AsyncDisposableStack();
afterEach(async () => {
  await stack.disposeAsync();
  stack = new AsyncDisposableStack();
});

interface Scene {
  mcp: McpTools;
  log: ServerLog;
  http: HttpServer | undefined;
}

async function scene({ sdk, way }: (typeof KINDS)[number]): Promise<Scene> {
  const log = stack.use(serverLog());
  const env = { LOG: log.path, TOKEN: 'token-of-the-test' };
  const http = way === 'http' ? await startHttpServer(`${sdk}-server`, env) : undefined;
  stack.defer(() => http?.stop());
  const headers = { authorization: 'Bearer token-of-the-test' };
  const server: McpServer = http === undefined ? program(`${sdk}-server`, ['stdio'], env) : { url: http.url, headers };
  return { mcp: stack.use(await connect(server)), log, http };
}

describe.each(KINDS)('a server of the $sdk SDK by $way', (kind) => {
  it('returns structured content, text, and bytes with their media type', async () => {
    const { mcp } = await scene(kind);
    expect(mcp.notes).toEqual([]);
    expect(mcp.tools.map(({ id }) => id)).toContain('s.add');
    expect(await call(mcp, 'add', { a: 1, b: 2 })).toEqual({ value: { sum: 3 } });
    expect(await call(mcp, 'greet', { name: 'Ada' })).toEqual({ value: 'Hello, Ada' });
    expect(await call(mcp, 'pixel')).toEqual({
      value: { mediaType: 'image/png', bytes: Buffer.from(PIXEL, 'base64') },
    });
  });

  it('says by its hints which tools only read', async () => {
    const { mcp } = await scene(kind);
    const effects = mcp.tools.filter(({ id }) => /add|greet/.test(id)).map(({ id, effect }) => [id, effect]);
    expect(effects).toEqual([
      ['s.add', 'read'],
      ['s.greet', 'write'],
    ]);
  });

  it('fails a call in its own words, without paths of the host and without keys', async () => {
    const { mcp } = await scene(kind);
    const message = 'No row in [path] for [redacted]';
    expect(await call(mcp, 'fail')).toEqual({ code: 'tool.failed', message, effect: 'none' });
  });

  it('is notified of a canceled call', async () => {
    const { mcp, log } = await scene(kind);
    const canceled = new AbortController();
    const called = call(mcp, 'wait', {}, canceled.signal);
    await log.has('waiting');
    canceled.abort(new Error('the caller left'));
    await log.has('canceled');
    expect(await called).toMatchObject({ message: 'the caller left' });
    // The connection works as before.
    expect(await call(mcp, 'greet', { name: 'Ada' })).toEqual({ value: 'Hello, Ada' });
  });

  it('gets no answer when it asks for sampling, roots or elicitation', async () => {
    const { mcp } = await scene(kind);
    const asked = await call(mcp, 'ask');
    if (kind.sdk === 'v1') expect(asked).toEqual({ value: ['rejected', 'rejected', 'rejected'] });
    else expect(asked).toMatchObject({ code: 'tool.failed', message: expect.stringContaining('elicitation') });
  });
});

describe.each(KINDS.filter(({ way }) => way === 'stdio'))('a server of the $sdk SDK that dies', (kind) => {
  it('fails the current call with an unknown effect, and is started again by the next call', async () => {
    const { mcp } = await scene(kind);
    const before = await call(mcp, 'pid');
    expect(await call(mcp, 'die')).toEqual({
      code: 'mcp.unavailable',
      message: 'The MCP server s ended with exit code 3.',
      effect: 'unknown',
    });
    const after = await call(mcp, 'pid');
    expect(after).toEqual({ value: { pid: expect.any(Number) } });
    expect(after).not.toEqual(before);
  });
});

describe.each(KINDS.filter(({ way }) => way === 'http'))('a server of the $sdk SDK by HTTP', (kind) => {
  it('gets the headers with each request', async () => {
    const { log, mcp } = await scene(kind);
    await call(mcp, 'greet', { name: 'Ada' });
    expect(new Set(log.lines().filter((line) => line.startsWith('authorization')))).toEqual(
      new Set(['authorization Bearer token-of-the-test']),
    );
  });

  it('that dies while it is called, or is gone, fails the calls, and is connected to again once it is back', async () => {
    const { mcp, http, log } = await scene(kind);
    const before = await call(mcp, 'pid');
    const waiting = call(mcp, 'wait');
    await log.has('waiting');
    await http?.stop();
    expect(await waiting).toMatchObject({ code: 'mcp.unavailable', effect: 'unknown' });
    expect(await call(mcp, 'pid')).toEqual({
      code: 'mcp.unavailable',
      message: expect.stringMatching(/MCP server s.* does not listen at its address/),
      effect: 'none',
    });
    const again = await startHttpServer(`${kind.sdk}-server`, {}, Number(new URL(http?.url ?? '').port));
    stack.defer(() => again.stop());
    const after = await call(mcp, 'pid');
    expect(after).toEqual({ value: { pid: expect.any(Number) } });
    expect(after).not.toEqual(before);
  });
});

describe('a session of the older protocol', () => {
  it('that the server has forgotten is opened anew, and the call made once', async () => {
    const { mcp, http } = await scene({ sdk: 'v1', way: 'http' });
    await http?.stop();
    const again = await startHttpServer('v1-server', {}, Number(new URL(http?.url ?? '').port));
    stack.defer(() => again.stop());
    expect(await call(mcp, 'greet', { name: 'Ada' })).toEqual({ value: 'Hello, Ada' });
  });

  it('ends with the connection', async () => {
    const { mcp, log } = await scene({ sdk: 'v1', way: 'http' });
    await mcp.close();
    await log.has('session closed');
    expect(await call(mcp, 'greet', { name: 'Ada' })).toMatchObject({ code: 'mcp.unavailable', effect: 'none' });
  });
});

describe('content without structure', () => {
  it('of several parts is a list of texts, bytes and links', async () => {
    const { mcp } = await scene({ sdk: 'v2', way: 'stdio' });
    expect(await call(mcp, 'mixed')).toEqual({
      value: [
        'see',
        { mediaType: 'audio/wav', bytes: Buffer.from([0, 1, 2]) },
        { uri: 'file:///a', mediaType: 'text/plain', text: 'a' },
        { uri: 'file:///b', bytes: Buffer.from([3, 4]) },
        { uri: 'file:///c', name: 'c' },
      ],
    });
  });
});
