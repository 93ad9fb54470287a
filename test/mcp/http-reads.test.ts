import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { describe, expect, it } from 'vitest';
import { type InProcessServer, KEPT, requestOf, serveInProcess } from '../fixtures/mcp-in-process.ts';
import { until } from '../fixtures/until.ts';

const READ = requestOf('resources/read', { uri: KEPT });

/** Waits until the server has handled the earlier requests. */
async function handled(server: InProcessServer): Promise<void> {
  for (let round = 0; round < 3; round += 1) await server.ask(requestOf('ping'));
}

describe('reads over HTTP, one at a time', () => {
  it('go on when waiting clients leave', async () => {
    const gate = Promise.withResolvers<string>();
    let reads = 0;
    const read = (): Promise<string> => {
      reads += 1;
      return gate.promise;
    };
    await using server = await serveInProcess({ read });
    const first = server.ask(READ);
    await until(() => reads === 1, 'the first read');
    const waiting = Array.from({ length: 20 }, () => server.begin(READ));
    await handled(server);
    for (const request of waiting) request.destroy();
    await handled(server);
    gate.resolve('all of it');
    expect((await first).text).toContain('all of it');
    expect((await server.ask(READ)).text).toContain('all of it');
    // A read without a waiting client is not made.
    expect(reads).toBe(2);
  });

  it('may be canceled by clients of older revisions while they wait for their turn', async () => {
    const gate = Promise.withResolvers<string>();
    let reads = 0;
    const read = (): Promise<string> => {
      reads += 1;
      return gate.promise;
    };
    const session = { 'mcp-session-id': 'of-the-test' };
    await using server = await serveInProcess({ read });
    const first = server.ask(READ);
    await until(() => reads === 1, 'the first read');
    const waiting = server.ask(requestOf('resources/read', { uri: KEPT }, 7), session);
    await handled(server);
    await server.ask({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 7 } }, session);
    const { status, text } = await waiting;
    expect([status, text]).toEqual([400, expect.stringContaining('its client gave it up')]);
    gate.resolve('all of it');
    await first;
    expect(reads).toBe(1);
  });

  it('go on when a client does not take its answer, or takes it byte by byte', async () => {
    // Far more than the system buffers on the way.
    const large = 'x'.repeat(32 * 1024 * 1024);
    let text = large;
    await using server = await serveInProcess({ read: () => text }, { readMs: 1_000 });
    for (const isSilent of [true, false]) {
      text = large;
      const request = server.begin(READ);
      const [response] = (await once(request, 'response')) as [IncomingMessage];
      response.on('error', () => undefined);
      const ended = new Promise((resolve) => response.once('close', resolve));
      const dripping = setInterval(() => void (isSilent ? undefined : response.read(1)), 20);
      text = 'of another client';
      const other = (): Promise<string> => server.ask(READ).then((answer) => answer.text, String);
      await until(async () => (await other()).includes(text), 'the answer to another client');
      clearInterval(dripping);
      response.resume();
      await ended;
      expect(response.complete).toBe(false);
    }
  });
});
