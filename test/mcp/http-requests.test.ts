import { describe, expect, it } from 'vitest';
import { requestOf, serveInProcess } from '../fixtures/mcp-in-process.ts';
import { until } from '../fixtures/until.ts';

const MOST = 160;
const PING = requestOf('ping');
const SESSION = { 'mcp-session-id': 'of-the-test' };

describe('requests over HTTP beyond the limit', () => {
  it('are refused until a client cancels one under way, or disconnects', async () => {
    let calls = 0;
    const call = (): Promise<void> => {
      calls += 1;
      return new Promise(() => undefined);
    };
    await using server = await serveInProcess({ call });
    const fill = async (): Promise<ReturnType<typeof server.begin>[]> => {
      calls = 0;
      const begun = Array.from({ length: MOST }, (_, id) =>
        server.begin(requestOf('tools/call', { name: 'call', arguments: {} }, id), SESSION),
      );
      await until(() => calls === MOST, 'calls that take all the room');
      return begun;
    };
    const isFull = async (): Promise<boolean> => (await server.ask(PING)).status === 503;

    const begun = await fill();
    const refused = await server.ask(PING);
    expect([refused.status, refused.headers['retry-after']]).toEqual([503, '1']);
    expect(JSON.parse(refused.text)).toMatchObject({ id: 1, error: { code: -32000 } });
    const cancel = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 7 } };
    expect((await server.ask(cancel, SESSION)).status).toBe(202);
    await until(async () => !(await isFull()), 'room of the canceled request');
    for (const request of begun) request.destroy();
    // As many fit only if all of them are gone.
    await until(async () => (await Promise.all(Array.from({ length: MOST }, isFull))).every((full) => !full), 'room');
    for (const request of await fill()) request.destroy();
    await until(async () => !(await isFull()), 'room of clients that are gone');
    expect(await isFull()).toBe(false);
  });
});
