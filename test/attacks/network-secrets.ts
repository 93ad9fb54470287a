import type { RequestListener } from 'node:http';
import { gunzipSync, gzipSync } from 'node:zlib';
import { type Asked, type DoorScene, type DoorSceneOptions, verdict } from '../fixtures/egress/door-scene.ts';
import type { NetworkCase } from './network-case.ts';

/** One value as programs write them, and one that every encoder changes. */
const VALUES = { PLAIN: 'sk-test-Abcdef0123456789xyzW', ODD: 'p@ss/"w\\ö+rd&=%20 x!?' };

const base64 = (text: string): string => Buffer.from(text).toString('base64');
const base64url = (text: string): string => Buffer.from(text).toString('base64url');

/** Ways in which a host can write a value. */
export const FORMS: Record<string, (value: string) => string> = {
  raw: (value) => value,
  JSON: (value) => JSON.stringify(value),
  'JSON in ASCII': (value) => JSON.stringify(value).replaceAll('ö', '\\u00f6'),
  'URL-encoded': encodeURIComponent,
  hex: (value) => Buffer.from(value).toString('hex'),
  HEX: (value) => Buffer.from(value).toString('hex').toUpperCase(),
  'base64 at offset 0': base64,
  'base64 at offset 1': (value) => base64(`x${value}`),
  'base64 at offset 2': (value) => base64(`xy${value}`),
  'base64url at offset 0': base64url,
  'base64url at offset 1': (value) => base64url(`x${value}`),
  'base64url at offset 2': (value) => base64url(`xy${value}`),
  'base64 twice': (value) => base64(base64(value)),
  'base64 of Basic': (value) => base64(`user:${value}`),
};

/** Forms whose bytes a header or a status phrase can hold. */
const latin = (text: string): string => Buffer.from(text).toString('latin1');

/** The places in which a host can repeat a value. The form is in the query. */
const PLACES: Record<string, (text: string, response: Parameters<RequestListener>[1]) => void> = {
  '/status': (text, response) => response.writeHead(200, latin(text)).end('hi'),
  '/header': (text, response) => response.writeHead(200, { 'x-echo': latin(`a ${text} b`) }).end('hi'),
  '/name': (text, response) => response.writeHead(200, [/^[\w-]+$/.test(text) ? text : 'none', 'a']).end('hi'),
  '/cookie': (text, response) => response.writeHead(200, { 'set-cookie': [`a=1`, latin(`b=${text}; Path=/`)] }).end(),
  '/redirect': (text, response) => response.writeHead(302, { location: latin(`https://evil.test/?a=${text}`) }).end(),
  '/error': (text, response) => response.writeHead(500).end(`<pre>no such key ${text}</pre>`),
  '/body': (text, response) => response.writeHead(200).end(`key ${text} key`),
  '/bytes': (text, response) => void writeBytes(text, response),
  '/lines': (text, response) => response.writeHead(200).end(text.replaceAll(/.{76}/g, '$&\r\n')),
  '/gzip': (text, response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(text)),
  '/deflate': (text, response) => response.writeHead(200, { 'content-encoding': 'x-gzip' }).end(gzipSync(text)),
  '/part': (text, response) => response.writeHead(206, { 'content-range': 'bytes 0-9/99' }).end(text),
};

async function writeBytes(text: string, response: Parameters<RequestListener>[1]): Promise<void> {
  response.writeHead(200);
  response.flushHeaders();
  for (const byte of Buffer.from(text)) {
    response.write(Buffer.of(byte));
    await new Promise(setImmediate);
  }
  response.end();
}

/** Answers without a secret, by path. */
const OTHERS: Record<string, (url: URL, response: Parameters<RequestListener>[1]) => void> = {
  '/to': (url, response) => response.writeHead(302, { location: url.searchParams.get('place') ?? '/' }).end(),
  '/endless': (_, response) => writeEndlessly(response),
  '/zeros': (_, response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end(ZEROS),
};
const ZEROS = gzipSync(Buffer.alloc(5_000_000));

function writeEndlessly(response: Parameters<RequestListener>[1]): void {
  const more = (): void => {
    while (!response.destroyed && response.write(Buffer.alloc(65_536))) {
      // Until the connection is full.
    }
  };
  response.on('drain', more);
  more();
}

/** The host of most cases: it repeats the secret that it was sent, and otherwise shows the request. */
export const answerWithSecrets: RequestListener = (request, response) => {
  const url = new URL(request.url ?? '/', 'http://host.test');
  const form = FORMS[url.searchParams.get('form') ?? ''];
  const place = PLACES[url.pathname];
  const { text = '' } = request as { text?: string };
  const other = OTHERS[url.pathname];
  if (form !== undefined && place !== undefined) return place(form(sentValue(request.headers)), response);
  if (other !== undefined) return other(url, response);
  response.setHeader('content-type', 'text/plain');
  response.end(`${request.method} ${request.url} ${text}\n`);
};

/** The value without the word before it. UTF-8, as it was sent. */
function sentValue(headers: Record<string, unknown>): string {
  const given = headers['authorization'] ?? headers['x-api-key'];
  return Buffer.from(String(given).replace(/^Bearer /, ''), 'latin1').toString();
}

const SECRETS: DoorSceneOptions = {
  rules: ['api.test:$https', '*.wild.test:$https', 'http://api.test:$http'],
  secrets: {
    PLAIN: { value: VALUES.PLAIN, hosts: ['api.test:$https'] },
    ODD: { value: VALUES.ODD, hosts: ['api.test:$https'], header: 'x-api-key' },
    // The port of plain http, over https.
    TLS: { value: 'tls-only-0123456789', hosts: ['api.test:$http'] },
  },
};

/** The forms of the values that bytes of an answer contain. */
function leaks(answer: string): string[] {
  const [head = '', ...rest] = answer.split('\r\n\r\n');
  const body = Buffer.from(rest.join('\r\n\r\n'), 'latin1');
  // Chunks of one byte hide nothing from a program.
  const joined = /^transfer-encoding: chunked/im.test(head) ? dechunked(body) : body;
  const plain = joined[0] === 0x1f ? gunzipSync(joined) : joined;
  const texts = [head, plain.toString('latin1'), plain.toString('latin1').replaceAll('\r\n', '')].map((text) =>
    text.toLowerCase(),
  );
  return Object.values(VALUES).flatMap((value) =>
    Object.entries(FORMS).flatMap(([name, form]) => {
      const words = [form(value), latin(form(value))].map((word) => core(name, word).toLowerCase());
      return words.some((word) => texts.some((text) => text.includes(word))) ? [name] : [];
    }),
  );
}

/** The part of a form that depends on the value alone. */
function core(name: string, word: string): string {
  return name.startsWith('base64') && !name.endsWith('twice') ? word.slice(4, -4) : word;
}

/** The forms of a value that bytes can have, by name. */
export function formsOf(value: string): Record<string, string> {
  return Object.fromEntries(Object.entries(FORMS).map(([name, form]) => [name, core(name, form(value))]));
}

function dechunked(bytes: Buffer): Buffer {
  const parts: Buffer[] = [];
  let at = 0;
  for (;;) {
    const end = bytes.indexOf('\r\n', at);
    const size = end < 0 ? 0 : Number.parseInt(bytes.toString('latin1', at, end), 16);
    if (!(size > 0)) return Buffer.concat(parts);
    parts.push(bytes.subarray(end + 2, end + 2 + size));
    at = end + 2 + size + 2;
  }
}

/** A host repeats both values in every form. */
function echo(id: string, title: string, place: string, gates: NetworkCase['gates'], blocked: RegExp): NetworkCase {
  return {
    ...{ id, title, gates, blocked, open: /^leaked/, scene: () => SECRETS },
    async attempt(door) {
      const found = new Set<string>();
      const verdicts = new Set<string>();
      for (const form of Object.keys(FORMS)) {
        const path = `${place}?form=${encodeURIComponent(form)}`;
        for (const line of [
          `Authorization: Bearer ${door.placeholder('PLAIN')}`,
          `X-Api-Key: ${door.placeholder('ODD')}`,
        ]) {
          const answer = await door.ask('api.test', { path, lines: [line] });
          verdicts.add(verdict(answer));
          leaks(answer).forEach((leak) => found.add(leak));
        }
      }
      return found.size > 0 ? `leaked ${[...found].join(', ')}` : `clean ${[...verdicts].join(' ')}`;
    },
  };
}

/** A program sends the placeholder where it does not belong; the evidence is the thing that arrived. */
function sending(
  title: string,
  gates: NetworkCase['gates'],
  target: string,
  asked: (placeholder: string) => Asked,
  name = 'PLAIN',
): NetworkCase {
  return {
    ...{ id: 'P21', title, gates, scene: () => SECRETS, blocked: /^kept/, open: 'arrived' },
    async attempt(door) {
      const before = door.upstream.requests.length;
      const answer = await door.ask(target, asked(door.placeholder(name)));
      return arrived(door, before, answer);
    },
  };
}

function arrived({ upstream }: DoorScene, before: number, answer: string): string {
  const seen = Buffer.from(JSON.stringify(upstream.requests.slice(before)), 'latin1').toString();
  const values = [...Object.values(VALUES), 'tls-only-0123456789'];
  const isThere = values.some((value) => [value, base64(`user:${value}`)].some((text) => seen.includes(text)));
  return isThere ? 'arrived' : `kept, ${verdict(answer)}`;
}

const bearer = (placeholder: string): string[] => [`Authorization: Bearer ${placeholder}`];
const basic = (placeholder: string): string[] => [`Authorization: Basic ${base64(`user:${placeholder}`)}`];

export const SECRET_CASES: readonly NetworkCase[] = [
  sending('a secret to another host', ['secret-hosts'], 'a.wild.test', (text) => ({ lines: bearer(text) })),
  sending('a secret in Basic to another host', ['secret-hosts'], 'a.wild.test', (text) => ({ lines: basic(text) })),
  sending(
    'a secret to another host that calls itself the first',
    ['secret-hosts', 'authority-mismatch'],
    'a.wild.test',
    (text) => ({
      ...{ lines: bearer(text), host: 'api.test' },
    }),
  ),
  sending('a secret to another host by server name', ['secret-hosts', 'authority-mismatch'], 'a.wild.test', (text) => ({
    ...{ lines: bearer(text), servername: 'api.test' },
  })),
  sending('a secret in another header', ['secret-header'], 'api.test', (text) => ({ lines: [`X-Other: ${text}`] })),
  sending('a secret in a cookie', ['secret-header'], 'api.test', (text) => ({ lines: [`Cookie: a=${text}`] })),
  sending('a secret in the header of another secret', ['secret-header'], 'api.test', (text) => ({
    lines: [`X-Api-Key: ${text}`],
  })),
  sending('a secret in the path', [], 'api.test', (text) => ({ path: `/${text}` })),
  sending('a secret in the query', [], 'api.test', (text) => ({ path: `/?a=${text}` })),
  sending('a secret in the body', [], 'api.test', (text) => ({ method: 'POST', body: text })),
  sending('a secret in the name of a header', [], 'api.test', (text) => ({ lines: [`${text}: 1`] })),
  sending('a secret in Proxy-Authorization', [], 'api.test', (text) => ({ lines: [`Proxy-Authorization: ${text}`] })),
  {
    ...sending('a secret over plain http', ['secret-tls'], '', () => ({}), 'TLS'),
    async attempt(door) {
      const before = door.upstream.requests.length;
      const host = `api.test:${door.upstream.plainPort}`;
      const lines = [`Host: ${host}`, 'Connection: close', ...bearer(door.placeholder('TLS'))];
      const answer = await door.say(`GET http://${host}/ HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`);
      return arrived(door, before, answer);
    },
  },
  echo('P22', 'a secret in a status phrase', '/status', ['wash'], /^clean 200$/),
  echo('P22', 'a secret in a header', '/header', ['wash'], /^clean 200$/),
  echo('P22', 'a secret in the name of a header', '/name', ['wash'], /^clean 200$/),
  echo('P22', 'a secret in a cookie', '/cookie', ['wash'], /^clean 200$/),
  echo('P22', 'a secret in a redirect', '/redirect', ['wash'], /^clean 302$/),
  echo('P22', 'a secret in an error page', '/error', ['wash'], /^clean 500$/),
  echo('P22', 'a secret in a page', '/body', ['wash'], /^clean 200$/),
  echo('P22', 'a secret in short lines', '/lines', ['wash'], /^clean 200$/),
  echo('P24', 'a secret cut at every byte', '/bytes', ['wash'], /^clean 200$/),
  echo(
    'P23',
    'a secret in gzip, although not asked for',
    '/gzip',
    ['response-unscannable'],
    /^clean 502 response-unscannable$/,
  ),
  echo(
    'P23',
    'a secret in gzip by an old name',
    '/deflate',
    ['response-unscannable'],
    /^clean 502 response-unscannable$/,
  ),
  {
    ...echo(
      'P23',
      'a secret in a part of a page',
      '/part',
      ['response-unscannable', 'wash'],
      /^clean 502 response-unscannable$/,
    ),
  },
];
