import type { NetworkGate } from '../../src/egress/rules/network-gate.ts';
import { type DoorSceneOptions, head, verdict, whole } from '../fixtures/egress/door-scene.ts';
import { ANSWER_CASES } from './network-answers.ts';
import { asking, changing, inTls, type NetworkCase, saying, withPorts } from './network-case.ts';
import { OUTGOING_CASES } from './network-outgoing.ts';
import { SECRET_CASES } from './network-secrets.ts';

/** Rules of most cases. The operator leaves `wide.test` less than its job asks for. */
export const COMMON_SCENE: DoorSceneOptions = {
  rules: [
    ...['api.test:$https', '*.wild.test:$https', 'GET,HEAD read.test:$https/v1/**', 'http://plain.test:$http'],
    ...['wide.test:$https', 'xn--bcher-kva.test:$https', '127.0.0.1:$https'],
  ],
  operator: [
    ...['api.test:$https', '*.wild.test:$https', 'read.test:$https', 'http://plain.test:$http'],
    ...['GET wide.test:$https/open/**', 'xn--bcher-kva.test:$https', '127.0.0.1:$https'],
  ],
};

const PUBLIC_ONLY: DoorSceneOptions = { allowPrivate: [], rules: ['api.test:$https', 'http://127.0.0.1:$http'] };

const HOST = 'Host: api.test:$https\r\n';
const CLOSE = 'Connection: close\r\n';
const PLAIN_HEAD = `GET http://plain.test:$http/ HTTP/1.1\r\n`;

const ADDRESSES: readonly NetworkCase[] = [
  {
    ...asking('P01', 'a name of this machine', ['resolved', 'connected'], 'api.test', {}, '403 address-blocked'),
    scene: () => PUBLIC_ONLY,
  },
  {
    ...saying(
      ...(['P01', 'an address of this machine', ['resolved', 'connected']] as const),
      ...([`GET http://127.0.0.1:$http/ HTTP/1.1\r\n${CLOSE}\r\n`, '403 address-blocked'] as const),
    ),
    scene: () => PUBLIC_ONLY,
  },
  {
    ...asking('P02', 'a name that leads elsewhere after its check', ['pinned', 'connected'], 'api.test', {}, '502'),
    scene: () => ({ allowPrivate: ['127.0.0.9/32'], lookup: changing(['127.0.0.9'], ['127.0.0.1']) }),
  },
  {
    ...asking('P02', 'a changed name, by its connection alone', ['connected'], 'api.test', {}, '403 address-blocked'),
    scene: () => ({
      ...{ allowPrivate: ['127.0.0.9/32'], lookup: changing(['127.0.0.9'], ['127.0.0.1']), without: ['pinned'] },
    }),
  },
  {
    ...asking('P03', 'one private address among others', ['resolved'], 'api.test', {}, '403 address-blocked'),
    scene: () => ({ lookup: changing(['127.0.0.1', '10.0.0.7']) }),
  },
  {
    ...asking('P20', 'a host whose certificate is not trusted', ['certificate'], 'api.test', {}, '502'),
    scene: () => ({ untrusted: true }),
  },
];

const PLACES: readonly NetworkCase[] = [
  ...[
    ...['evil.test', 'evilwild.test', 'a.wild.test.evil.test', 'wild.test', 'api.test.evil.test', 'xapi.test', 'test'],
    ...['a-wild.test', 'awild.test', 'api-test', 'api.tests'],
  ].map((host) => asking('P06', `the denied host ${host}`, ['host-not-allowed'], host, {}, '403 host-not-allowed')),
  ...['EVIL.test', 'evil.test.', 'evil.TEST.'].map((host) =>
    asking('P05', `the denied host ${host}`, ['host-not-allowed'], host, {}, '403 host-not-allowed'),
  ),
  ...['127.0.0.2', '[::1]', '[::ffff:127.0.0.1]', '169.254.169.254', '[fd00:ec2::254]'].map((host): NetworkCase => ({
    ...asking('P07', `the denied address ${host}`, ['host-not-allowed'], host, {}, '403 host-not-allowed'),
    // The address is judged as well.
    open: /^(403 address-blocked|502)$/,
  })),
  ...[
    ...[
      '2130706433',
      '0x7f000001',
      '0177.0.0.1',
      '127.1',
      '127.0.0.1.',
      '①②⑦.⓪.⓪.①',
      '127。0。0。1',
      '[::1',
      '[::1%25lo]',
    ],
    ...[
      'api.test:0443',
      'api.test:',
      'api.test:0',
      'api.test:65536',
      'a@api.test:443',
      'api.test/x:443',
      '%61pi.test:443',
    ],
  ].map((target) =>
    saying(
      ...(['P04', `a tunnel to ${target}`, []] as const),
      ...([`CONNECT ${/:\d*$/.test(target) ? target : `${target}:$https`} HTTP/1.1\r\n\r\n`] as const),
      ...([/^(403|400) protocol-refused$/] as const),
    ),
  ),
  {
    ...asking('P07', 'another port', ['port-not-allowed'], 'api.test', {}, '403 port-not-allowed'),
    open: '502',
    attempt: async (door) => verdict(await door.ask('api.test:1')),
  },
  {
    ...saying(
      'P08',
      'plain http to a host of https',
      ['scheme-not-allowed', 'port-not-allowed'],
      '',
      /port-not-allowed/,
    ),
    attempt: async (door) =>
      verdict(
        await door.say(withPorts(door, `GET http://api.test:$http/ HTTP/1.1\r\nHost: api.test:$http\r\n${CLOSE}\r\n`)),
      ),
  },
  {
    ...saying('P08', 'plain http to the port of https', ['scheme-not-allowed'], '', '403 scheme-not-allowed', '502'),
    async attempt(door) {
      const socket = await door.tunnel(`api.test:${door.upstream.port}`);
      socket.write(withPorts(door, `GET / HTTP/1.1\r\n${HOST}${CLOSE}\r\n`));
      return verdict(await whole(socket));
    },
  },
  ...['POST', 'DELETE', 'QUERY'].map((method) =>
    asking(
      ...(['P09', `the denied method ${method}`, ['method-not-allowed'], 'read.test'] as const),
      ...([{ method, path: '/v1/a' }, '403 method-not-allowed'] as const),
    ),
  ),
  ...['X-HTTP-Method-Override: DELETE', 'x-http-method: delete', 'X-Method-Override: POST'].map((line) =>
    asking(
      ...(['P09', `a denied method in ${line}`, ['method-not-allowed'], 'read.test'] as const),
      ...([{ path: '/v1/a', lines: [line] }, '403 method-not-allowed'] as const),
    ),
  ),
  asking('P09', 'TRACE', ['method-not-allowed'], 'api.test', { method: 'TRACE' }, '403 method-not-allowed'),
  ...['/', '/v2/a', '/v', '/V1/a', '/v11/a', '/v2?/v1/a'].map((path) =>
    asking('P10', `the denied path ${path}`, ['path-not-allowed'], 'read.test', { path }, '403 path-not-allowed'),
  ),
  ...[
    ...[
      '/v1/../v2',
      '/v1/%2e%2e/v2',
      '/v1/..%2fv2',
      '/v1/.%2e/v2',
      '/v1//v2',
      '/v1/..;/v2',
      '/v1/..%5cv2',
      '/v1/%252e%252e/',
    ],
    ...['/v1/\\..\\v2', '/v1/%c0%ae%c0%ae/v2', '/v1/a%00b', '/v1/./a', '/v1/%', '/v1/a%0d%0aX:1'],
  ].map((path) =>
    asking('P10', `the unclear path ${path}`, ['target-ambiguous'], 'read.test', { path }, '403 target-ambiguous'),
  ),
  asking(
    ...(['P10', 'a path of the job that the operator closes', ['operator'], 'wide.test'] as const),
    ...([{ path: '/closed' }, '403 path-not-allowed'] as const),
  ),
  asking(
    ...(['P09', 'a method of the job that the operator closes', ['operator'], 'wide.test'] as const),
    ...([{ method: 'POST', path: '/open/a' }, '403 method-not-allowed'] as const),
  ),
];

const NAMES: readonly NetworkCase[] = [
  ...[
    'evil.test',
    'a.wild.test',
    'api.test',
    'api.test:1',
    'api.test@evil.test',
    '127.0.0.1',
    'api.test:$https evil',
    'api.test,evil.test',
    '',
  ].map((host): NetworkCase => ({
    ...asking('P11', `the Host header ${host}`, ['authority-mismatch'], '', {}, '421 authority-mismatch'),
    attempt: async (door) =>
      verdict(await door.ask('api.test', { host: '', lines: [`Host: ${withPorts(door, host)}`] })),
  })),
  ...['evil.test', 'a.wild.test', 'api.test.evil.test'].map((servername) =>
    asking(
      'P11',
      `the server name ${servername}`,
      ['authority-mismatch'],
      'api.test',
      { servername },
      '421 authority-mismatch',
    ),
  ),
  ...['https://evil.test/', 'https://api.test@evil.test/', 'http://api.test/', 'https://evil.test:$https/'].map(
    (url): NetworkCase =>
      inTls(
        ...(['P11', `the absolute form ${url} in a tunnel`, ['authority-mismatch']] as const),
        ...([`GET ${url} HTTP/1.1\r\n${HOST}${CLOSE}\r\n`, '421 authority-mismatch', /^[24]/] as const),
      ),
  ),
  saying(
    ...(['P11', 'a Host header beside the absolute form', ['authority-mismatch']] as const),
    ...([`${PLAIN_HEAD}Host: evil.test\r\n${CLOSE}\r\n`, '421 authority-mismatch'] as const),
  ),
  saying(
    ...(['P11', 'the absolute form of https without a tunnel', ['protocol-refused', 'scheme-not-allowed']] as const),
    ...([`GET https://plain.test:$http/ HTTP/1.1\r\n${CLOSE}\r\n`, '403 protocol-refused'] as const),
  ),
];

const PROTOCOLS: readonly NetworkCase[] = [
  ...Object.entries({ SSH: 'SSH-2.0-x\r\n\r\n', bytes: '\x05\x01', SMTP: 'EHLO x\r\n' }).map(
    ([title, text]): NetworkCase => ({
      ...saying('P12', `${title} in a tunnel, in one piece with its CONNECT`, [], '', /^(400 protocol-refused|none)$/),
      async attempt(door) {
        const socket = door.job.connect();
        socket.write(withPorts(door, `CONNECT api.test:$https HTTP/1.1\r\n\r\n${text}`));
        return verdict((await whole(socket)).replace(/^HTTP.1.1 200 .*\r\n\r\n/, ''));
      },
    }),
  ),
  saying('P12', 'SOCKS', [], '\x05\x01\x00\r\n\r\n', '400 protocol-refused'),
  {
    ...saying('P12', 'a tunnel inside a tunnel', ['protocol-refused'], '', /^403 protocol-refused/),
    async attempt(door) {
      const socket = await door.secure(`api.test:${door.upstream.port}`);
      socket.write('CONNECT evil.test:443 HTTP/1.1\r\nHost: evil.test:443\r\n\r\n');
      const answer = verdict(await head(socket));
      socket.destroy();
      return answer;
    },
  },
  asking(
    ...(['P12', 'an upgrade to a WebSocket', ['protocol-refused'], 'api.test'] as const),
    ...([{ lines: ['Upgrade: websocket', 'Sec-WebSocket-Key: x'] }, '403 protocol-refused'] as const),
  ),
  asking(
    ...(['P12', 'an upgrade to HTTP/2', ['protocol-refused'], 'api.test'] as const),
    ...([{ lines: ['Upgrade: h2c', 'HTTP2-Settings: AAA'] }, '403 protocol-refused'] as const),
  ),
];

/** Requests that two servers take for different numbers of requests. The strict reader refuses each. */
const BROKEN_REQUESTS: Record<string, string> = {
  'both lengths': `POST /a HTTP/1.1\r\n${HOST}${CLOSE}Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
  'a folded header': `GET /a HTTP/1.1\r\n${HOST}${CLOSE}X-A: 1\r\n folded\r\n\r\n`,
  'line feeds alone': `GET /a HTTP/1.1\nHost: api.test:$https\nConnection: close\n\n`,
  'a space before a colon': `GET /a HTTP/1.1\r\n${HOST}${CLOSE}X-A : 1\r\n\r\n`,
  'a chunk length with a space': `POST /a HTTP/1.1\r\n${HOST}${CLOSE}Transfer-Encoding: chunked\r\n\r\n2 \r\nhi\r\n0\r\n\r\n`,
  'a chunk without a line end': `POST /a HTTP/1.1\r\n${HOST}${CLOSE}Transfer-Encoding: chunked\r\n\r\n2\r\nhi0\r\n\r\n`,
  'a chunk size that is too large': `POST /a HTTP/1.1\r\n${HOST}${CLOSE}Transfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\nhi\r\n0\r\n\r\n`,
  'a last coding that is not chunked': `POST /a HTTP/1.1\r\n${HOST}${CLOSE}Transfer-Encoding: chunked, gzip\r\n\r\n0\r\n\r\n`,
  'an unknown coding': `POST /a HTTP/1.1\r\n${HOST}${CLOSE}Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n`,
  'two codings': `POST /a HTTP/1.1\r\n${HOST}${CLOSE}Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n`,
  'two lengths': `POST /a HTTP/1.1\r\n${HOST}${CLOSE}Content-Length: 2\r\nContent-Length: 0\r\n\r\nhi`,
  'two equal lengths': `POST /a HTTP/1.1\r\n${HOST}${CLOSE}Content-Length: 2\r\nContent-Length: 2\r\n\r\nhi`,
  'a length with a sign': `POST /a HTTP/1.1\r\n${HOST}${CLOSE}Content-Length: +2\r\n\r\nhi`,
  'a list of lengths': `POST /a HTTP/1.1\r\n${HOST}${CLOSE}Content-Length: 2, 2\r\n\r\nhi`,
  'a NUL in a header': `GET /a HTTP/1.1\r\n${HOST}${CLOSE}X-A: a\0b\r\n\r\n`,
  'a carriage return in a header': `GET /a HTTP/1.1\r\n${HOST}${CLOSE}X-A: a\rX-B: b\r\n\r\n`,
  'a header without a name': `GET /a HTTP/1.1\r\n${HOST}${CLOSE}: 1\r\n\r\n`,
  'a path in Latin-1': `GET /\xe4 HTTP/1.1\r\n${HOST}${CLOSE}\r\n`,
  'HTTP/0.9': `GET /a\r\n\r\n`,
  'HTTP/2': `PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n`,
};
/** Those that the lenient reader takes; of the others, no reader of Node takes one. */
const LENIENT: ReadonlySet<string> = new Set(['both lengths', 'a folded header', 'a carriage return in a header']);

function gatesOf(title: string): NetworkGate[] {
  return LENIENT.has(title) ? ['strict-http'] : [];
}

const SMUGGLING: readonly NetworkCase[] = [
  ...Object.entries(BROKEN_REQUESTS).map(([title, text]) =>
    inTls(
      ...(['P13', title, gatesOf(title)] as const),
      ...([text, /^(40[03] protocol-refused|403 target-ambiguous)$/, /^[245]/] as const),
    ),
  ),
  ...['Authorization', 'Cookie', 'X-Api-Key', 'Content-Type', 'authorization'].map((name) =>
    asking(
      ...(['P14', `two headers ${name}`, ['target-ambiguous'], 'api.test'] as const),
      ...([{ lines: [`${name}: a`, `${name.toUpperCase()}: b`] }, '403 target-ambiguous'] as const),
    ),
  ),
  asking(
    ...(['P14', 'a header again with an underscore', ['target-ambiguous'], 'api.test'] as const),
    ...([{ lines: ['Content-Type: a', 'Content_Type: b'] }, '403 target-ambiguous'] as const),
  ),
  inTls(
    ...(['P14', 'two Host headers', ['target-ambiguous', 'authority-mismatch']] as const),
    ...([`GET / HTTP/1.1\r\n${HOST}Host: evil.test\r\n${CLOSE}\r\n`, /^(400|403 target-ambiguous)/] as const),
  ),
  asking(
    ...(['P18', 'headers of 100 KB', ['headers'], 'api.test'] as const),
    ...([{ lines: [`X-A: ${'a'.repeat(100_000)}`] }, /^(431 protocol-refused|none)$/] as const),
  ),
  inTls(
    ...(['P28', 'more requests of one connection than may wait', ['pipeline']] as const),
    ...([
      `GET /slow HTTP/1.1\r\n${HOST}\r\n`.repeat(40) + `GET / HTTP/1.1\r\n${HOST}${CLOSE}\r\n`,
      'none',
      /^200/,
    ] as const),
  ),
];

const SHARES: readonly NetworkCase[] = [
  {
    ...asking('P25', 'more requests than its share', ['quota'], 'api.test', {}, '429 quota'),
    scene: () => ({ limits: { requests: 2 } }),
    async attempt(door) {
      await door.ask('api.test');
      await door.ask('api.test');
      return verdict(await door.ask('api.test'));
    },
  },
  {
    ...asking('P25', 'more bytes out than its share', ['quota'], 'api.test', {}, '429 quota'),
    scene: () => ({ limits: { bytesOut: 1_000 } }),
    attempt: async (door) => verdict(await door.ask('api.test', { method: 'POST', body: 'x'.repeat(200_000) })),
  },
  {
    ...asking('P25', 'more bytes in than its share', ['quota'], 'api.test', {}, ''),
    scene: () => ({ limits: { bytesIn: 1_000 } }),
    ...{ blocked: 'less than 10000 bytes', open: 'all bytes' },
    async attempt(door) {
      const answer = await door.ask('api.test', { method: 'POST', body: 'x'.repeat(10_000) });
      return answer.length > 10_000 ? 'all bytes' : 'less than 10000 bytes';
    },
  },
  {
    ...asking('P26', 'a request after the audit has failed', ['audit-failed'], 'api.test', {}, '403 audit-failed'),
    scene: () => ({}),
    async attempt(door) {
      door.egress.refuse();
      await door.settled();
      return verdict(await door.ask('api.test'));
    },
  },
];

/** Every attack on the worker of the network. */
export const NETWORK_CASES: readonly NetworkCase[] = [
  ...ADDRESSES,
  ...PLACES,
  ...NAMES,
  ...PROTOCOLS,
  ...SMUGGLING,
  ...SHARES,
  ...OUTGOING_CASES,
  ...ANSWER_CASES,
  ...SECRET_CASES,
];
