import { once } from 'node:events';
import { connect as connectTls } from 'node:tls';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openDoorScene, verdict, whole } from '../../fixtures/egress/door-scene.ts';
import { startUpstream, type Upstream } from '../../fixtures/egress/upstream.ts';
import { until } from '../../fixtures/until.ts';

const VALUE = 'pässwort-4711-schlüssel';

/** An upstream whose answers are written as bytes, by their path. */
const ANSWERS: Record<string, string> = {
  '/phrase': 'HTTP/1.1 200 Très bien 世界\r\ncontent-length: 2\r\n\r\nok',
  '/secret': `HTTP/1.1 200 ${VALUE}\r\ncontent-length: 2\r\n\r\nok`,
  '/events': 'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n',
  '/old': 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok',
};
let upstream: Upstream;

beforeAll(async () => {
  upstream = await startUpstream({
    raw: (socket) =>
      socket.on('data', (chunk: Buffer) => socket.write(ANSWERS[chunk.toString().split(' ')[1] ?? ''] ?? '')),
  });
});
afterAll(async () => await upstream[Symbol.asyncDispose]());

/** As a resolver in JavaScript may. */
function rejectsWithout(): Promise<never> {
  // oxlint-disable-next-line prefer-promise-reject-errors -- the fault itself
  return Promise.reject();
}

describe('an answer', () => {
  it('may have any phrase in UTF-8', async () => {
    await using door = await openDoorScene(upstream);
    const answer = await door.ask('api.test', { path: '/phrase' });
    expect(Buffer.from(answer, 'latin1').toString()).toContain('HTTP/1.1 200 Très bien 世界\r\n');
  });

  it('brings back no secret with other letters than those of ASCII in its phrase', async () => {
    const secrets = { TOKEN: { value: VALUE, hosts: ['api.test:$https'] } };
    await using door = await openDoorScene(upstream, { secrets });
    const answer = await door.ask('api.test', { path: '/secret' });
    expect(answer).toContain(`HTTP/1.1 200 ${door.placeholder('TOKEN')}\r\n`);
  });

  for (const secrets of [{}, { TOKEN: { value: VALUE, hosts: ['api.test:$https'] } }])
    it(`begins before its body, ${'TOKEN' in secrets ? 'washed' : 'as it is'}`, async () => {
      await using door = await openDoorScene(upstream, { secrets });
      const host = `api.test:${upstream.port}`;
      const socket = await door.secure(host);
      let seen = '';
      socket.on('data', (chunk: Buffer) => (seen += chunk.toString()));
      socket.write(`GET /events HTTP/1.1\r\nhost: ${host}\r\n\r\n`);
      await until(() => seen.includes('\r\n\r\n'), 'the head of the answer');
      expect(verdict(seen)).toBe('200');
      socket.destroy();
    });

  it('is an error of the host if its lookup fails without an error', async () => {
    await using door = await openDoorScene(upstream, { lookup: rejectsWithout });
    expect(verdict(await door.ask('api.test', { path: '/old' }))).toBe('502');
  });
});

describe('a program that names protocols in its handshake', () => {
  it('may name HTTP/1.0 alone', async () => {
    await using door = await openDoorScene(upstream);
    const host = `api.test:${upstream.port}`;
    const ALPNProtocols = ['http/1.0'];
    const socket = await door.tunnel(host);
    const secure = connectTls({ socket, ca: door.job.authority, servername: 'api.test', ALPNProtocols });
    secure.write(`GET /old HTTP/1.0\r\nhost: ${host}\r\n\r\n`);
    expect(verdict(await whole(secure))).toBe('200');
  });

  it('is refused with a row if it names HTTP/2 alone', async () => {
    await using door = await openDoorScene(upstream);
    const socket = await door.tunnel(`api.test:${upstream.port}`);
    const secure = connectTls({ socket, ca: door.job.authority, servername: 'api.test', ALPNProtocols: ['h2'] });
    await expect(once(secure, 'secureConnect')).rejects.toThrow('no application protocol');
    await until(() => door.rows.length > 0, 'a row');
    expect(door.rows).toMatchObject([
      { reason: 'protocol-refused', host: 'api.test', detail: 'a protocol other than HTTP/1.1' },
    ]);
  });
});
