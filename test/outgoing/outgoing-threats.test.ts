import { once } from 'node:events';
import type { RequestListener } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { networkInterfaces } from 'node:os';
import { gzipSync } from 'node:zlib';
import { Agent } from 'undici';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { SkillcellError } from '../../src/contracts/errors/skillcell-error.ts';
import { checkedFetch, type OutgoingRequest } from '../../src/outgoing/checked-fetch.ts';
import type { Lookup, OutgoingCheck } from '../../src/outgoing/outgoing-rules.ts';
import { resolveChecked } from '../../src/outgoing/resolve-checked.ts';
import { requireHere } from '../fixtures/describe-with.ts';
import {
  AMBIGUOUS_ADDRESSES,
  CREDENTIALS,
  FOREIGN_ADDRESSES,
  FOREIGN_ADDRESSES_OF_LOOPBACK,
  FOREIGN_PORTS,
  FOREIGN_REDIRECTS,
  HOSTLESS_ADDRESSES,
  LOOPBACK_HOSTS,
  LOOPBACK_IPV6_HOSTS,
  MORE_THAN_HOSTS,
  SPACED_ADDRESSES,
  SPECIAL_HOSTS,
  UNRESOLVED_HOSTS,
} from '../fixtures/outgoing/hostile-addresses.ts';
import { type LocalServer, serveLocally, trustLocalServers } from '../fixtures/outgoing/local-server.ts';
import { until } from '../fixtures/until.ts';

/** Status and text of an answer, or code and message of the error. */
async function come(url: string, request: OutgoingRequest = {}): Promise<string> {
  try {
    const { status, body } = await checkedFetch(url, request);
    const pieces: Buffer[] = [];
    for await (const piece of body) pieces.push(piece);
    return `${status} ${Buffer.concat(pieces)}`;
  } catch (error) {
    const { code, message } = error as SkillcellError;
    return `${code}: ${message}`;
  }
}

/** A lookup that returns the given addresses in order, then the last one forever. */
function names(...answers: string[]): Lookup & { asked: string[] } {
  const asked: string[] = [];
  const lookup = async (host: string): Promise<{ address: string; family: number }[]> => {
    asked.push(host);
    const address = answers[Math.min(asked.length, answers.length) - 1] ?? '';
    return [{ address, family: address.includes(':') ? 6 : 4 }];
  };
  return Object.assign(lookup, { asked });
}

/** Resolves `localhost.`, which only some resolvers know. */
const rooted = (host: string): OutgoingRequest => (host === 'localhost.' ? { lookup: names('127.0.0.1') } : {});

const HELLO: RequestListener = (_, response) => response.end('hello');
/** All address checks: their purpose shows only without all of them. */
const ADDRESSES: readonly OutgoingCheck[] = ['resolved', 'connected'];

let plain: LocalServer;
let secure: LocalServer;
beforeAll(async () => {
  trustLocalServers();
  plain = await serveLocally(HELLO);
  secure = await serveLocally(HELLO, { secure: true });
});
afterAll(async () => {
  await plain[Symbol.asyncDispose]();
  await secure[Symbol.asyncDispose]();
});

describe('K01 addresses of this machine', () => {
  it.each(LOOPBACK_HOSTS)('are refused before connecting: %s', async (host) => {
    const before = secure.connections;
    const request = { ports: [secure.port], ...rooted(host) };
    expect(await come(`https://${host}:${secure.port}/`, request)).toMatch(
      /^source\.refused: .* not public \((?:loopback|unspecified)\)/,
    );
    expect(secure.connections).toBe(before);
  });

  it.each(LOOPBACK_HOSTS)('are requested without the address checks: %s', async (host) => {
    const before = plain.seen.length;
    const request = { ports: [plain.port], without: [...ADDRESSES, 'scheme' as const], ...rooted(host) };
    expect(await come(`http://${host}:${plain.port}/`, request)).toBe('200 hello');
    expect(plain.seen.length).toBe(before + 1);
  });

  it.each(LOOPBACK_IPV6_HOSTS)('of IPv6 are refused: %s', async (host) =>
    expect(await come(`https://${host}/`)).toMatch(/^source\.refused: .* not public \(/),
  );

  it('of IPv6 are requested without the address checks', async (context) => {
    requireHere(
      context,
      Object.values(networkInterfaces())
        .flat()
        .some((each) => each?.address === '::1')
        ? undefined
        : '::1',
    );
    await using server = await serveLocally(HELLO, { address: '::1' });
    const request = { ports: [server.port], without: ['scheme' as const] };
    const url = `http://[::1]:${server.port}/`;
    expect(await come(url, request)).toContain('(loopback)');
    expect(await come(url, { ...request, without: [...ADDRESSES, 'scheme'] })).toBe('200 hello');
    expect(server.seen).toHaveLength(1);
  });
});

describe('K02 cloud metadata, and addresses that contain another address', () => {
  it.each(SPECIAL_HOSTS)('%s is refused as %s', async (host, range) => {
    expect(await come(`https://${host}/`)).toContain(`(${range})`);
  });

  it('a name of such an address is refused, even if the name is allowed', async () => {
    const request = { lookup: names('169.254.169.254'), allowPrivate: ['metadata.google.internal'] };
    expect(await come('https://metadata.google.internal/', request)).toContain('(linkLocal)');
  });

  it.each(['8.8.8.8', '1.1.1.1', '2606:4700:4700::1111'])('%s is public', async (address) => {
    expect(await resolveChecked('skills.test', { lookup: names(address) })).toEqual([address]);
  });

  it('an IPv4-mapped address is requested without the address checks', async () => {
    const request = { ports: [plain.port], without: ['scheme' as const] };
    const url = `http://[::ffff:127.0.0.1]:${plain.port}/`;
    expect(await come(url, request)).toContain('(ipv4Mapped)');
    expect(await come(url, { ...request, without: ['scheme', ...ADDRESSES] })).toBe('200 hello');
  });
});

describe('K03 names that lead to private addresses', () => {
  const url = (): string => `https://skills.test:${secure.port}/`;

  it('a name with a private address is refused, and is requested without the address checks', async () => {
    const request = { ports: [secure.port], lookup: names('127.0.0.1') };
    expect(await come(url(), request)).toContain('got skills.test at 127.0.0.1.');
    expect(await come(url(), { ...request, without: ADDRESSES })).toBe('200 hello');
  });

  it('one private address among others refuses the name', async () => {
    const lookup: Lookup = async () => [
      { address: '8.8.8.8', family: 4 },
      { address: '10.0.0.7', family: 4 },
    ];
    await expect(resolveChecked('skills.test', { lookup })).rejects.toThrow('(private), got skills.test at 10.0.0.7');
    expect(await resolveChecked('skills.test', { lookup, without: ['resolved'] })).toHaveLength(2);
  });

  it('an invalid address in a lookup refuses the name, and a name without addresses is an outage', async () => {
    await expect(resolveChecked('skills.test', { lookup: names('skills') })).rejects.toThrow('(no address)');
    await expect(resolveChecked('skills.test', { lookup: names('') })).rejects.toThrow('(no address)');
    await expect(resolveChecked('skills.test', { lookup: async () => [] })).rejects.toMatchObject({
      code: 'store.unavailable',
      message: expect.stringContaining('its host has no address'),
    });
  });

  it.each(MORE_THAN_HOSTS)('a text with more than a host is refused: %j', async (host) => {
    const lookup = names('8.8.8.8');
    await expect(resolveChecked(host, { lookup })).rejects.toThrow('it has no usable host');
    expect(lookup.asked).toEqual([]);
  });

  it('an endless lookup ends with an abort', async () => {
    const controller = new AbortController();
    const asked = resolveChecked('skills.test', {
      lookup: () => new Promise(() => undefined),
      signal: controller.signal,
    });
    controller.abort(new Error('enough'));
    await expect(asked).rejects.toThrow('enough');
  });

  it('a name that changes between check and connection is resolved once', async () => {
    // The first server stands for a public address, the second for a private one.
    await using good = await serveLocally((_, response) => response.end('good'), {
      address: '127.0.0.2',
      secure: true,
    });
    await using bad = await serveLocally((_, response) => response.end('bad'), { port: good.port, secure: true });
    const request = { ports: [good.port], allowPrivate: ['127.0.0.2'] };
    const changing = names('127.0.0.2', '127.0.0.1');
    const at = `https://skills.test:${good.port}/`;
    expect(await come(at, { ...request, lookup: changing })).toBe('200 good');
    expect(changing.asked).toEqual(['skills.test']);

    const lookup = (): Lookup => names('127.0.0.2', '127.0.0.1');
    expect(await come(at, { ...request, lookup: lookup(), without: ['pinned'] })).toContain(
      'its connection ends at an address that is not public (loopback)',
    );
    expect(bad.seen).toEqual([]);
    expect(await come(at, { ...request, lookup: lookup(), without: ['pinned', 'connected'] })).toBe('200 bad');
    expect(bad.seen).toHaveLength(1);
  });
});

describe('K04 redirects', () => {
  const to =
    (location: () => string): RequestListener =>
    (_, response) =>
      response.writeHead(302, { location: location() }).end();

  it('to a private address are refused, and are followed without the address checks', async () => {
    await using first = await serveLocally(to(() => `http://127.0.0.3:${target.port}/`));
    await using target = await serveLocally(HELLO, { address: '127.0.0.3' });
    const request = { ports: [first.port, target.port], allowPrivate: ['127.0.0.1'] };
    const url = `http://127.0.0.1:${first.port}/`;
    // The scheme check refuses first.
    expect(await come(url, request)).toContain('only https is allowed');
    const unschemed = { ...request, without: ['scheme' as const] };
    expect(await come(url, unschemed)).toContain('(loopback), got 127.0.0.3.');
    expect(target.connections).toBe(0);
    expect(await come(url, { ...unschemed, without: ['scheme', ...ADDRESSES] })).toBe('200 hello');
    expect(target.seen).toHaveLength(1);
  });

  it.each(FOREIGN_REDIRECTS)('to another protocol are refused: %s', async (location) => {
    await using server = await serveLocally(to(() => location));
    const request = { ports: [server.port], allowPrivate: ['127.0.0.1'] };
    expect(await come(`http://127.0.0.1:${server.port}/`, request)).toContain('only https is allowed');
  });

  it('from https to http are refused, and are followed without the check', async () => {
    await using server = await serveLocally(
      to(() => `http://127.0.0.1:${plain.port}/down`),
      { secure: true },
    );
    const request = { ports: [server.port, plain.port], allowPrivate: ['127.0.0.1'] };
    const url = `https://127.0.0.1:${server.port}/`;
    expect(await come(url, request)).toContain('it redirects from https to http');
    expect(plain.seen.join()).not.toContain('/down');
    expect(await come(url, { ...request, without: ['downgrade'] })).toBe('200 hello');
    expect(plain.seen.join()).toContain('/down');
  });

  it('are followed at most three times', async () => {
    await using server = await serveLocally(({ url = '' }, response) => {
      const left = Number(url.slice(1));
      if (left === 0) response.end('there');
      else response.writeHead(307, { location: `/${left - 1}` }).end();
    });
    const request = { ports: [server.port], allowPrivate: ['127.0.0.1'] };
    const url = `http://127.0.0.1:${server.port}`;
    expect(await come(`${url}/3`, request)).toBe('200 there');
    expect(await come(`${url}/4`, request)).toContain('it redirects more than 3 times');
    expect(await come(`${url}/20`, request)).toContain('it redirects more than 3 times');
    expect(server.seen).toHaveLength(4 * 3);
    expect(await come(`${url}/20`, { ...request, without: ['redirects'] })).toBe('200 there');
  });

  it('carry no header of the caller to another host, and never a body', async () => {
    const headers: unknown[] = [];
    await using target = await serveLocally((request, response) => {
      headers.push(request.headers.authorization);
      response.end('there');
    });
    await using server = await serveLocally(to(() => `http://localhost:${target.port}/`));
    const request = {
      ports: [server.port, target.port],
      allowPrivate: ['127.0.0.1', 'localhost'],
      headers: { authorization: 'Bearer secret' },
    };
    expect(await come(`http://127.0.0.1:${server.port}/`, request)).toBe('200 there');
    expect(await come(`http://127.0.0.1:${target.port}/`, request)).toBe('200 there');
    expect(headers).toEqual([undefined, 'Bearer secret']);
    expect(await come(`http://127.0.0.1:${server.port}/`, { ...request, method: 'POST', body: 'x' })).toContain(
      'it redirects a request other than GET',
    );
    expect(headers).toHaveLength(2);
  });
});

describe('K05 other protocols', () => {
  it.each(FOREIGN_ADDRESSES)('are refused: %s', async (url) => {
    expect(await come(url, { lookup: names('8.8.8.8') })).toMatch(/^source\.refused: .*only https is allowed/);
  });

  it('plain http is allowed only for hosts in allowPrivate, and everywhere without the check', async () => {
    const request = { ports: [plain.port], lookup: names('127.0.0.1'), allowPrivate: ['127.0.0.0/8'] };
    const url = `http://skills.test:${plain.port}/`;
    expect(await come(url, request)).toContain('only https is allowed');
    expect(await come(url, { ...request, allowPrivate: ['skills.test'] })).toBe('200 hello');
    expect(await come(url, { ...request, without: ['scheme'] })).toBe('200 hello');
  });
});

describe('K06 addresses that two parsers read differently, credentials, ports', () => {
  const allowed = (): OutgoingRequest => ({ ports: [plain.port], allowPrivate: ['127.0.0.1'] });

  it.each(AMBIGUOUS_ADDRESSES)('with %s are refused, and are requested without the check', async (_, text) => {
    const url = text(plain.port);
    expect(await come(url, allowed())).toContain('it has a space, a control character or a backslash, or no host');
    expect(await come(url, { ...allowed(), without: ['form'] })).toBe('200 hello');
  });

  it.each(HOSTLESS_ADDRESSES)('without a host are refused: %j', async (url) =>
    expect(await come(url)).toMatch(/^source\.refused: /),
  );

  it.each(SPACED_ADDRESSES)('with a space or a control character anywhere are refused: %j', async (url) =>
    expect(await come(url, { lookup: names('8.8.8.8') })).toContain('it has a space'),
  );

  it.each(FOREIGN_ADDRESSES_OF_LOOPBACK)(
    'of another scheme are refused, even if the host is allowed: %s',
    async (url) => expect(await come(url, { allowPrivate: ['127.0.0.1'] })).toContain('only https is allowed'),
  );

  it('of one IP version are not allowed by a range of the other', async () => {
    expect(await come('https://127.0.0.1/', { allowPrivate: ['fd00::/8'] })).toContain('(loopback)');
    expect(await come('https://[::1]/', { allowPrivate: ['10.0.0.0/8'] })).toContain('(loopback)');
  });

  it('with a credential are refused, and the message does not contain it', async () => {
    for (const credential of CREDENTIALS) {
      const url = `http://${credential}@127.0.0.1:${plain.port}/?token=secret`;
      const message = await come(url, allowed());
      expect(message).toContain('it has a user name or a password in it');
      expect(message).not.toContain('secret');
      expect(await come(url, { ...allowed(), without: ['credentials'] })).toBe('200 hello');
    }
  });

  it.each(FOREIGN_PORTS)('with port %i are refused', async (port) => {
    expect(await come(`https://skills.test:${port}/`, { lookup: names('8.8.8.8') })).toContain(
      'its port is not allowed',
    );
  });

  it('with another port are requested without the check', async () => {
    const request = { allowPrivate: ['127.0.0.1'] };
    const url = `http://127.0.0.1:${plain.port}/`;
    expect(await come(url, request)).toContain('its port is not allowed');
    expect(await come(url, { ...request, without: ['port'] })).toBe('200 hello');
  });
});

describe('K07 endless and oversized answers', () => {
  const serve = async (
    answer: RequestListener,
  ): Promise<{ server: LocalServer; url: string; request: OutgoingRequest }> => {
    const server = await serveLocally(answer);
    return {
      server,
      url: `http://127.0.0.1:${server.port}/`,
      request: { ports: [server.port], allowPrivate: ['127.0.0.1'], maxBytes: 1_000 },
    };
  };

  it('end at the byte limit, and are read without it', async () => {
    const { server, url, request } = await serve((_, response) => response.end('x'.repeat(1_001)));
    await using _ = server;
    expect(await come(url, request)).toContain('it sends more than 1000 bytes');
    expect(await come(url, { ...request, without: ['bytes'] })).toHaveLength(4 + 1_001);
    expect(await come(url, { ...request, maxBytes: 1_001 })).toHaveLength(4 + 1_001);
  });

  it('end at the limit if they are endless, together with the connection', async () => {
    let closed = false;
    const { server, url, request } = await serve((_, response) => {
      const write = (): void => {
        while (response.write('x'.repeat(1_000)));
        response.once('drain', write);
      };
      response.once('close', () => (closed = true));
      write();
    });
    await using _ = server;
    expect(await come(url, request)).toContain('it sends more than 1000 bytes');
    await until(() => closed, 'the end of the connection');
  });

  it('end at the limit of inflated bytes', async () => {
    const bomb = gzipSync(Buffer.alloc(500_000));
    const { server, url, request } = await serve((_, response) =>
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(bomb),
    );
    await using _ = server;
    expect(bomb.length).toBeLessThan(1_000);
    expect(await come(url, request)).toContain('its answer inflates to more than 1000 bytes');
    expect(await come(url, { ...request, without: ['inflated'] })).toHaveLength(4 + 500_000);
    expect(await come(url, { ...request, maxInflatedBytes: 500_000 })).toHaveLength(4 + 500_000);
  });

  it('are refused if they cannot be inflated or have another encoding', async () => {
    const { server, url, request } = await serve(({ url: path }, response) => {
      const encoding = path === '/br' ? 'br' : 'gzip';
      response
        .writeHead(200, { 'content-encoding': encoding })
        .end(gzipSync('hello').subarray(0, path === '/cut' ? 9 : 0));
    });
    await using _ = server;
    expect(await come(`${url}br`, request)).toContain('an unrequested encoding, got br');
    expect(await come(`${url}cut`, request)).toContain('its answer cannot be inflated');
  });

  it.each([
    ['no answer', (): void => undefined],
    ['headers and no body', (response: Parameters<RequestListener>[1]) => response.writeHead(200).flushHeaders()],
    ['a body that stalls', (response: Parameters<RequestListener>[1]) => response.write('x')],
  ])('end at the deadline: %s', async (_, begin) => {
    const waiting: Parameters<RequestListener>[1][] = [];
    const { server, url, request } = await serve((_request, response) => {
      waiting.push(response);
      begin(response);
    });
    await using _server = server;
    expect(await come(url, { ...request, timeoutMs: 150 })).toMatch(
      /^store\.unavailable: .*it gave no complete answer within 150 ms/,
    );
    const patient = come(url, { ...request, timeoutMs: 1, without: ['time'] });
    await until(() => waiting.length > 1, 'the second request');
    // Longer than the deadline of 1 ms.
    await new Promise((resolve) => setTimeout(resolve, 20));
    waiting[1]?.end('late');
    expect(await patient).toMatch(/^200 x?late$/);
  });

  it('of another type are refused, and are read without the check', async () => {
    const { server, url, request } = await serve((_, response) =>
      response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end('<p>'),
    );
    await using _ = server;
    const typed = { ...request, types: ['application/json'] };
    expect(await come(url, typed)).toContain('another type than application/json, got text/html of http://127.0.0.1');
    expect(await come(url, { ...typed, without: ['type'] })).toBe('200 <p>');
    expect(await come(url, { ...typed, types: ['text/html'] })).toBe('200 <p>');
  });

  it('with too long headers are refused, and are read without the check', async () => {
    const { server, url, request } = await serve((_, response) =>
      response.writeHead(200, { 'x-long': 'x'.repeat(17 * 1_024) }).end('hello'),
    );
    await using _ = server;
    expect(await come(url, request)).toContain('it sends headers that are too long');
    expect(await come(url, { ...request, without: ['headers'] })).toBe('200 hello');
  });

  it('end with an abort at each step', async () => {
    const { server, url, request } = await serve(({ url: path }, response) => {
      if (path === '/body') response.write('x');
    });
    await using _ = server;
    for (const path of ['', 'body']) {
      const controller = new AbortController();
      const asked = come(`${url}${path}`, { ...request, signal: controller.signal });
      await until(() => server.seen.some((line) => line.endsWith(`/${path}`)), 'the request');
      controller.abort(new Error('enough'));
      expect(await asked).toContain('enough');
    }
    expect(await come(url, { ...request, signal: AbortSignal.abort(new Error('never')) })).toContain('never');
  });

  it('that are not HTTP are an outage, with a reason', async () => {
    const server = createServer((socket) => socket.on('error', () => undefined).end('220 mail.example ESMTP\r\n'));
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const { port } = server.address() as AddressInfo;
    const said = await come(`http://127.0.0.1:${port}/`, {
      allowPrivate: [`127.0.0.1:${port}`],
    });
    server.close();
    expect(said).toMatch(/^store\.unavailable: .*its answer is not HTTP/);
  });

  it('that break off are an outage', async () => {
    const { server, url, request } = await serve(({ url: path }, response) => {
      if (path === '/cut') response.writeHead(200, { 'content-length': '10' }).write('hello');
      setImmediate(() => response.destroy());
    });
    await using _ = server;
    expect(await come(`${url}cut`, request)).toMatch(/^store\.unavailable: .*it broke off/);
    expect(await come(url, request)).toMatch(/^store\.unavailable: .*it broke off the connection/);
  });
});

describe('K08 endpoints from a tenant', () => {
  it('are limited to the listed hosts', async () => {
    await using other = await serveLocally(HELLO, { address: '127.0.0.4' });
    const request = { ports: [plain.port, other.port], allowPrivate: ['127.0.0.1'] };
    expect(await come(`http://127.0.0.1:${plain.port}/bucket/key`, request)).toBe('200 hello');
    const endpoint = `http://127.0.0.4:${other.port}/bucket/key`;
    expect(await come(endpoint, request)).toContain('only https is allowed');
    expect(await come(endpoint, { ...request, without: ['scheme'] })).toContain('(loopback)');
    expect(other.connections).toBe(0);
    expect(await come(endpoint, { ...request, without: ['scheme', ...ADDRESSES] })).toBe('200 hello');
  });

  it('a range allows its addresses, and an address only itself', async () => {
    const resolve = async (host: string, allowPrivate: string[]): Promise<unknown> =>
      await resolveChecked(host, { allowPrivate }).catch((error: SkillcellError) => error.code);
    expect(await resolve('10.1.2.3', ['10.0.0.0/8'])).toEqual(['10.1.2.3']);
    expect(await resolve('11.1.2.3', ['10.0.0.0/8'])).toEqual(['11.1.2.3']);
    expect(await resolve('192.168.0.1', ['10.0.0.0/8'])).toBe('source.refused');
    expect(await resolve('fd00::1', ['fd00::/8', '10.0.0.0/8'])).toEqual(['fd00::1']);
    expect(await resolve('fd00::1', ['10.0.0.1'])).toBe('source.refused');
    expect(await resolve('[::ffff:10.0.0.1]', ['10.0.0.0/8'])).toBe('source.refused');
    expect(await resolve('10.1.2.3', ['10.1.2.3:8080'])).toEqual(['10.1.2.3']);
    expect(await resolve('::1', ['[::1]:8080'])).toEqual(['::1']);
  });

  it.each(['10.0.0.7', 'fd00::7', '127.0.0.1', '::1', '100.64.0.7'])(
    'a name allows private networks and this machine, without regard to case: %s',
    async (address) => {
      const lookup = names(address);
      expect(await resolveChecked('git.corp.example', { allowPrivate: ['Git.Corp.Example'], lookup })).toEqual([
        address,
      ]);
      expect(await resolveChecked('GIT.corp.example', { allowPrivate: ['git.corp.example'], lookup })).toEqual([
        address,
      ]);
      await expect(resolveChecked('x.corp.example', { allowPrivate: ['corp.example'], lookup })).rejects.toThrow(
        'not public',
      );
    },
  );

  it('an entry with a port allows only this port of this host', async () => {
    await using other = await serveLocally(HELLO);
    const request = { allowPrivate: [`127.0.0.1:${plain.port}`, `localhost:${other.port}`] };
    expect(await come(`http://127.0.0.1:${plain.port}/`, request)).toBe('200 hello');
    expect(await come(`http://localhost:${other.port}/`, request)).toBe('200 hello');
    expect(await come(`http://127.0.0.1:${other.port}/`, request)).toContain('its port is not allowed');
    expect(await come(`http://localhost:${plain.port}/`, request)).toContain('its port is not allowed');
  });

  it.each([
    '',
    'a b',
    'http://host',
    'host:port',
    'host:123456',
    'host:1:2',
    '10.0.0.0/33',
    '[::1',
    '[::1]x',
    'a..b',
    '*',
  ])('an invalid entry is refused: %j', async (entry) => {
    expect(await come('https://skills.test/', { allowPrivate: [entry] })).toMatch(/^options\.invalid: /);
    await expect(resolveChecked('skills.test', { allowPrivate: [entry] })).rejects.toThrow(
      'Cannot allow a private host',
    );
  });
});

describe('K09 the address of the connection', () => {
  it('is not looked up by Node if it is a literal, so a lookup check alone is not enough', async () => {
    const looked: string[] = [];
    const connections = new Agent({
      connect: {
        lookup(host, _, callback) {
          looked.push(host);
          callback(new Error('refused'), '');
        },
      },
    });
    const { statusCode, body } = await connections.request({
      origin: `http://127.0.0.1:${plain.port}`,
      path: '/',
      method: 'GET',
    });
    expect([statusCode, await body.text(), looked]).toEqual([200, 'hello', []]);
    await expect(
      connections.request({ origin: `http://localhost:${plain.port}`, path: '/', method: 'GET' }),
    ).rejects.toThrow('refused');
    expect(looked).toEqual(['localhost']);
    await connections.close();
  });

  it.each(UNRESOLVED_HOSTS)('is checked even without the first check: %s', async (host) => {
    const before = [plain.connections, plain.seen.length];
    const request = { ports: [plain.port], without: ['scheme', 'resolved'] as OutgoingCheck[] };
    const url = `http://${host}:${plain.port}/`;
    expect(await come(url, request)).toContain('its connection ends at an address that is not public (loopback)');
    // A connection was made, but no request was sent.
    expect([plain.connections, plain.seen.length]).toEqual([(before[0] ?? 0) + 1, before[1]]);
    expect(await come(url, { ...request, without: [...ADDRESSES, 'scheme'] })).toBe('200 hello');
  });

  it('is checked twice for each connection', async () => {
    const request = { ports: [plain.port], allowPrivate: ['localhost'] };
    expect(await come(`http://localhost:${plain.port}/`, request)).toBe('200 hello');
    expect(
      await come(`http://localhost:${plain.port}/`, { ...request, allowPrivate: [], without: ['scheme'] }),
    ).toContain('got localhost at ');
  });
});
