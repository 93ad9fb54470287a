import { getEventListeners } from 'node:events';
import type { RequestListener } from 'node:http';
import { setImmediate as turn } from 'node:timers/promises';
import { createGzip, gzipSync } from 'node:zlib';
import type { Agent } from 'undici';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { SkillcellError } from '../../src/contracts/errors/skillcell-error.ts';
import { openConnections } from '../../src/outgoing/checked-connections.ts';
import { checkedFetch, type OutgoingRequest } from '../../src/outgoing/checked-fetch.ts';
import { fetchBytes } from '../../src/outgoing/fetch-bytes.ts';
import { startRequestClock } from '../../src/outgoing/request-clock.ts';
import { type LocalServer, serveLocally } from '../fixtures/outgoing/local-server.ts';
import { until } from '../fixtures/until.ts';

const ALLOWED = { allowPrivate: ['127.0.0.1'] };

let answer: RequestListener;
let server: LocalServer;
let url: string;
let request: OutgoingRequest;
let kept: Agent;
beforeEach(async () => {
  server = await serveLocally((asked, response) => answer(asked, response));
  url = `http://127.0.0.1:${server.port}/`;
  request = { ...ALLOWED, ports: [server.port], maxBytes: 1_000 };
  kept = await openConnections(ALLOWED);
});
afterEach(async () => {
  vi.useRealTimers();
  await kept.destroy();
  await server[Symbol.asyncDispose]();
});

const read = async (asked: OutgoingRequest): Promise<string> =>
  await fetchBytes(url, asked).then(
    ({ status, bytes }) => `${status} ${bytes}`,
    ({ code, message }: SkillcellError) => `${code}: ${message}`,
  );

/** An endless answer that stops when the client disconnects. */
const endless = (status: number, headers: Record<string, string> = {}): RequestListener => {
  return (_, response) => {
    const packed = headers['content-encoding'] === 'gzip' ? createGzip({ level: 0 }) : undefined;
    const target = packed ?? response;
    packed?.on('error', () => undefined).pipe(response);
    response.writeHead(status, headers).once('close', () => packed?.destroy());
    const write = (): void => {
      if (response.destroyed) return;
      while (target.write('x'.repeat(1_000)));
      target.once('drain', write);
    };
    write();
  };
};

describe('checkedFetch() leaves no connection', () => {
  const ENDS: [string, RequestListener, OutgoingRequest, string][] = [
    ['an answer', (_, response) => response.end('hello'), {}, '200 hello'],
    ['a failure status', endless(404), {}, '404 undefined'],
    ['an answer of another type', endless(200, { 'content-type': 'a/b' }), { types: ['c/d'] }, 'another type than c/d'],
    ['an unrequested encoding', endless(200, { 'content-encoding': 'br' }), {}, 'an unrequested encoding'],
    ['an answer that is too long', endless(200), {}, 'it sends more than 1000 bytes'],
    [
      'a packed answer that is too long',
      endless(200, { 'content-encoding': 'gzip' }),
      { maxInflatedBytes: 2 ** 20 },
      'it sends more than 1000 bytes',
    ],
    [
      'a packed answer that inflates to too much',
      endless(200, { 'content-encoding': 'gzip' }),
      { maxBytes: 2 ** 20, maxInflatedBytes: 500 },
      'its answer inflates to more than 500 bytes',
    ],
    ['a refused redirect', endless(302, { location: 'file:///x' }), {}, 'only https is allowed'],
    [
      'a followed redirect',
      (asked, response) =>
        asked.url === '/' ? endless(302, { location: '/next' })(asked, response) : void response.end('next'),
      {},
      '200 next',
    ],
  ];

  it.each(ENDS)('open after %s with its own connections', async (_, listener, more, said) => {
    answer = listener;
    const { signal } = new AbortController();
    expect(await read({ ...request, ...more, signal })).toContain(said);
    expect(getEventListeners(signal, 'abort')).toEqual([]);
    await until(() => server.open === 0, 'the end of its connections');
  });

  it.each(ENDS.slice(1))('open after %s, except a reusable kept one', async (_, listener, more, said) => {
    answer = listener;
    const { signal } = new AbortController();
    expect(await read({ ...request, ...more, signal, connections: kept })).toContain(said);
    expect(getEventListeners(signal, 'abort')).toEqual([]);
    // A reusable connection may stay open.
    await until(() => server.open <= (said === '200 next' ? 1 : 0), 'the end of the connection');
  });

  it('open to an address that is refused after connecting', async () => {
    answer = (_, response) => response.end('hello');
    const plain = { ...request, allowPrivate: [], without: ['scheme', 'resolved'] as const };
    await using connections = closing(await openConnections(plain));
    expect(await read({ ...plain, connections: connections.agent })).toContain('its connection ends at an address');
    await until(() => server.connections === 1 && server.open === 0, 'the end of the connection');
  });
});

describe('startRequestClock()', () => {
  it('does not abort after it is stopped', () => {
    vi.useFakeTimers();
    const clock = startRequestClock(10, 'https://host/', undefined);
    clock.stop();
    expect(vi.getTimerCount()).toBe(0);
    vi.advanceTimersByTime(20);
    expect(clock.signal.aborted).toBe(false);
  });
});

describe('checkedFetch()', () => {
  it('reports an answer that breaks off, also if it is packed', async () => {
    const packed = gzipSync('hello');
    answer = (_, response) => {
      response.writeHead(200, { 'content-encoding': 'gzip', 'content-length': '1000' }).write(packed.subarray(0, 12));
      setImmediate(() => response.destroy());
    };
    expect(await read(request)).toMatch(/^store\.unavailable: .*it broke off/);
  });

  it.each([undefined, 'gzip'])('ends a body with the reason of an abort, encoded as %s', async (encoding) => {
    answer = (_, response) => {
      const headers = encoding === undefined ? {} : { 'content-encoding': encoding };
      response.writeHead(200, headers).write(gzipSync('hello'.repeat(100)).subarray(0, 20));
    };
    const controller = new AbortController();
    const { body } = await checkedFetch(url, { ...request, signal: controller.signal });
    const reading = body[Symbol.asyncIterator]().next();
    controller.abort(new Error('enough'));
    // Earlier chunks may still be returned.
    const next = async (): Promise<unknown> => {
      const { done } = await reading;
      return done === true ? 'the end' : await body[Symbol.asyncIterator]().next();
    };
    await expect(next()).rejects.toThrow('enough');
  });

  it('sends no header of the caller to another port of the same host', async () => {
    const seen: unknown[] = [];
    await using other = await serveLocally((asked, response) => {
      seen.push(asked.headers.authorization);
      response.end('there');
    });
    answer = (_, response) => response.writeHead(302, { location: `http://127.0.0.1:${other.port}/` }).end();
    const headers = { authorization: 'Bearer secret' };
    expect(await read({ ...request, ports: [server.port, other.port], headers })).toBe('200 there');
    expect(seen).toEqual([undefined]);
  });

  it('tries the next address of a host if the first refuses the connection', async () => {
    answer = (_, response) => response.end('hello');
    const lookup = async (): Promise<{ address: string; family: number }[]> =>
      ['127.0.0.9', '127.0.0.1'].map((address) => ({ address, family: 4 }));
    const named = { ...request, allowPrivate: ['skills.test'], lookup };
    expect(Buffer.from((await fetchBytes(`http://skills.test:${server.port}/`, named)).bytes ?? []).toString()).toBe(
      'hello',
    );
  });

  it('reads 10 MiB and waits 30 s by default', async () => {
    const large = Buffer.alloc(10 * 2 ** 20 + 1);
    answer = (_, response) => response.end(large);
    const { maxBytes: _, ...plain } = request;
    expect(await read(plain)).toContain('it sends more than 10485760 bytes');
    answer = () => undefined;
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const waiting = read(plain);
    while (server.seen.length < 2) await turn();
    vi.advanceTimersByTime(30_000);
    expect(await waiting).toContain('it gave no complete answer within 30000 ms');
  });

  it('with asItArrives, requests no encoding and never inflates', async () => {
    const packed = gzipSync('hello');
    const asked: unknown[] = [];
    answer = ({ headers }, response) => {
      asked.push(headers['accept-encoding']);
      response.writeHead(200, { 'content-encoding': ' GZip ', 'content-length': packed.length }).end(packed);
    };
    const { bytes } = await fetchBytes(url, { ...request, asItArrives: true });
    expect(bytes).toEqual(packed);
    const inflated = await checkedFetch(url, request);
    // These headers describe the packed bytes, which the caller does not see.
    expect(['content-encoding', 'content-length'].map((name) => inflated.headers.get(name))).toEqual([null, null]);
    inflated.discard();
    expect(asked).toEqual(['identity', 'gzip']);
  });

  it('checks the media type only for status 200, without regard to case', async () => {
    answer = ({ url: path }, response) =>
      response.writeHead(path === '/' ? 200 : 404, { 'content-type': 'Application/JSON' }).end('{}');
    expect(await read({ ...request, types: ['application/json'] })).toBe('200 {}');
    expect((await fetchBytes(`${url}none`, { ...request, types: ['text/plain'] })).status).toBe(404);
  });
});

function closing(agent: Agent): { agent: Agent } & AsyncDisposable {
  return { agent, [Symbol.asyncDispose]: async () => await agent.destroy() };
}
