import { createHash } from 'node:crypto';
import { request as httpsRequest } from 'node:https';
import { Readable } from 'node:stream';
import { PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { Sha256Node } from '@smithy/core/checksum';
import { SignatureV4 } from '@smithy/signature-v4';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { RequestListener } from 'node:http';
import { type Answered, ask, type Asked } from '../fixtures/egress/ask.ts';
import type { EgressRow } from '../../src/egress/worker/worker-messages.ts';
import { type AwsEgress, openAwsEgress } from '../fixtures/egress/open-aws-egress.ts';
import { readAuthorization, signatureByHand } from '../fixtures/egress/signature-by-hand.ts';
import { startUpstream, type Upstream } from '../fixtures/egress/upstream.ts';
import { until } from '../fixtures/until.ts';

const VALUES = {
  accessKeyId: 'ASIAREALREALREALREAL',
  secretAccessKey: 'real+secret/key0real+secret/key0real+sec',
  sessionToken: 'FwoGZXIvYXdzEOb//////////wEaDNb+a/real/token==',
};
const MIB = 1024 * 1024;

let upstream: Upstream;
let network: AwsEgress;
let origin: string;

/** A service that computes signatures by hand, and shows the keys that it got in its answers. */
const verify: RequestListener = (request, response) => {
  const { text = '' } = request as { text?: string };
  const { headers, method = '', url = '' } = request;
  const { signature, ...found } = readAuthorization(headers.authorization ?? '');
  const { region, service, signed } = found;
  const hash = headers['x-amz-content-sha256'];
  const expected = signatureByHand({
    ...{ method, target: url, headers, signed, region, service, date: String(headers['x-amz-date']) },
    payload: hash === undefined ? { body: text } : { hash: String(hash) },
    secretAccessKey: VALUES.secretAccessKey,
  });
  const isRight =
    expected === signature &&
    found.id === VALUES.accessKeyId &&
    headers['x-amz-security-token'] === VALUES.sessionToken &&
    url !== '/echo';
  response.statusCode = isRight ? 200 : 403;
  response.setHeader('x-amz-request-key', found.id);
  response.end(isRight ? `verified ${region} ${service} ${text.length}` : errorPage(VALUES));
};

function errorPage({ accessKeyId, secretAccessKey, sessionToken }: typeof VALUES): string {
  return `<Error><AWSAccessKeyId>${accessKeyId}</AWSAccessKeyId><T>${sessionToken}</T><S>${secretAccessKey}</S></Error>`;
}

/** An authorization with the placeholder, and with any signature. */
function unsigned({ placeholders }: AwsEgress): string {
  return `AWS4-HMAC-SHA256 Credential=${placeholders.accessKeyId}/20150830/r/s3/aws4_request, SignedHeaders=host, Signature=0`;
}

beforeAll(async () => {
  upstream = await startUpstream({ answer: verify });
  network = await openAwsEgress(upstream.network([`*.aws.test:${upstream.port}`]), VALUES);
  origin = `https://h.aws.test:${upstream.port}`;
});
afterAll(async () => {
  await network?.[Symbol.asyncDispose]();
  await upstream?.[Symbol.asyncDispose]();
});

interface Signing extends Asked {
  service?: string;
  hashHeader?: boolean;
}

/** Signs as a client with the placeholders, and asks. */
async function askSigned(
  path: string,
  { service = 'execute-api', hashHeader = false, ...asked }: Signing = {},
): Promise<Answered> {
  const { method = 'GET', headers = {}, body } = asked;
  const signer = new SignatureV4({
    ...{ service, region: 'ap-south-1', sha256: Sha256Node, credentials: network.placeholders },
    ...{ applyChecksum: hashHeader, uriEscapePath: service !== 's3' },
  });
  const [pathname = '', query = ''] = path.split('?');
  const signed = await signer.sign({
    ...{ protocol: 'https:', hostname: '', method, path: pathname, body },
    query: Object.fromEntries(new URLSearchParams(query)),
    headers: { ...headers, host: new URL(origin).host },
  });
  return await ask(network.agent, origin, path, { ...asked, headers: signed.headers });
}

describe('a request of a client is signed anew', () => {
  test.each<[string, string, Signing]>([
    ['to a path with encoded characters', '/prod/a%20b%2Cc%C3%A9(x)/', {}],
    ['with a query', '/prod?b=1%2F2&a=%2B&c', {}],
    ['with a body and its hash', '/prod', { method: 'POST', body: '{"a":1}', hashHeader: true }],
    ['with a body without its hash', '/prod', { method: 'POST', body: '{"a":1}', headers: { 'content-length': '7' } }],
    ['with a body in chunks', '/prod', { method: 'POST', body: '{"a":1}' }],
    ['with a body of 1 MiB without its hash', '/prod', { method: 'PUT', body: 'x'.repeat(MIB) }],
    ['with a larger body and its hash', '/prod', { method: 'PUT', body: 'x'.repeat(MIB + 1), hashHeader: true }],
    ['with headers that the worker replaces', '/prod', { headers: { 'accept-encoding': 'gzip', range: 'bytes=0-9' } }],
    ['with the method HEAD', '/prod', { method: 'HEAD' }],
    ['to S3', '/b/a%20(b)?list-type=2', { service: 's3', hashHeader: true }],
  ])('%s', async (_name, path, asked) => {
    const { status, body, headers } = await askSigned(path, asked);
    const verified = `verified ap-south-1 ${asked.service ?? 'execute-api'} ${asked.body?.length ?? 0}`;
    expect([status, body]).toEqual([200, asked.method === 'HEAD' ? '' : verified]);
    expect(upstream.requests.at(-1)?.url).toBe(path);
    expect(headers['x-amz-request-key']).toBe(network.placeholders.accessKeyId);
    const row = (await network.rows()).at(-1);
    expect(row?.secrets).toEqual(['KEYS']);
    expect(row).not.toHaveProperty('misplaced');
  });

  test('with its checksum in a trailer by Amazon’s client', async () => {
    const client = new S3Client({
      ...{ region: 'us-west-2', endpoint: origin, forcePathStyle: true, credentials: network.placeholders },
      requestHandler: { httpsAgent: network.agent },
    });
    const Body = Readable.from([Buffer.from('streamed '), Buffer.from('body')]);
    await client.send(new PutObjectCommand({ Bucket: 'b', Key: 'k', Body, ContentLength: 13 }));
    client.destroy();
    const { headers, body } = upstream.requests.at(-1) ?? {};
    expect(headers?.['x-amz-content-sha256']).toBe('STREAMING-UNSIGNED-PAYLOAD-TRAILER');
    expect(body).toMatch(/^9\r\nstreamed \r\n4\r\nbody\r\n0\r\nx-amz-checksum-crc32:.*\r\n\r\n$/);
  });
});

test('an answer with the keys has the placeholders in their place', async () => {
  const { status, body, headers } = await askSigned('/echo');
  expect(status).toBe(403);
  const { accessKeyId, secretAccessKey, sessionToken } = network.placeholders;
  expect(body).toBe(errorPage({ accessKeyId, secretAccessKey, sessionToken: sessionToken ?? '' }));
  expect(headers['x-amz-request-key']).toBe(accessKeyId);
});

describe('denied as signature-unsupported', () => {
  const id = (): string => network.placeholders.accessKeyId;
  const signed = (): Record<string, string> => ({ authorization: unsigned(network) });
  test.each<[string, () => [string, Asked]]>([
    [
      'a presigned URL',
      () => [`/b/k?X-Amz-Credential=${id()}%2F20150830%2Fr%2Fs3%2Faws4_request&X-Amz-Signature=0`, {}],
    ],
    [
      'signatures of chunks',
      () => [
        '/b/k',
        {
          method: 'PUT',
          headers: { ...signed(), 'x-amz-content-sha256': 'STREAMING-AWS4-HMAC-SHA256-PAYLOAD' },
          body: 'x'.repeat(3 * MIB),
        },
      ],
    ],
    ['a signature of the kind AWS', () => ['/b/k', { headers: { authorization: `AWS ${id()}:c2ln` } }]],
    [
      'a body of more than 1 MiB without its hash',
      () => ['/b/k', { method: 'PUT', headers: signed(), body: 'x'.repeat(3 * MIB) }],
    ],
    [
      'a body of more than 1 MiB without its hash',
      () => [
        '/b/k',
        { method: 'PUT', headers: { ...signed(), 'content-length': `${3 * MIB}` }, body: 'x'.repeat(3 * MIB) },
      ],
    ],
  ])('%s', async (what, make) => {
    const before = upstream.requests.length;
    const [path, asked] = make();
    const { status, headers, body } = await ask(network.agent, origin, path, asked);
    expect([status, headers['x-skillcell-denied']]).toEqual([403, 'signature-unsupported']);
    expect(body).toContain(`, got ${what}.`);
    expect(upstream.requests.length).toBe(before);
    expect((await network.rows()).at(-1)).toMatchObject({ reason: 'signature-unsupported', secrets: [] });
  });
});

test('another host gets the placeholder, and no signature', async () => {
  const other = await startUpstream();
  await using _ = other;
  const options = { ...other.network([`a.test:${other.port}`, `b.test:${other.port}`]) };
  await using pair = await openAwsEgress(options, VALUES, undefined, [`a.test:${other.port}`]);
  const authorization = unsigned(pair);
  await ask(pair.agent, `https://b.test:${other.port}`, '/', { headers: { authorization } });
  expect(other.requests.at(-1)?.headers.authorization).toBe(authorization);
  expect((await pair.rows()).at(-1)).toMatchObject({ secrets: [], misplaced: ['KEYS'] });
  await ask(pair.agent, `https://a.test:${other.port}`, '/', { headers: { authorization } });
  expect(other.requests.at(-1)?.headers.authorization).toContain(VALUES.accessKeyId);
});

test('the share of the job holds for a body that is hashed', async () => {
  await using small = await openAwsEgress(upstream.network([`*.aws.test:${upstream.port}`]), VALUES, {
    ...{ connections: 32, requests: 10, bytesIn: 1e6, bytesOut: 1_000 },
  });
  const authorization = unsigned(small);
  const asked = { method: 'POST', headers: { authorization }, body: 'x'.repeat(2_000) };
  expect((await ask(small.agent, origin, '/', asked)).status).toBe(429);
  expect((await small.rows()).at(-1)).toMatchObject({ reason: 'quota', secrets: [] });
});

test('a program that leaves before the end of its body gets no signature', async () => {
  const before = (await network.rows()).length;
  const { hostname, port } = new URL(origin);
  const place = { agent: network.agent, host: hostname, port, path: '/left', method: 'POST' };
  const asked = httpsRequest({ ...place, headers: { authorization: unsigned(network) } });
  asked.on('error', () => undefined);
  await new Promise((resolve) => asked.write('x', resolve));
  asked.destroy();
  const rows = async (): Promise<EgressRow[]> =>
    (await network.rows()).slice(before).filter(({ path }) => path === '/left');
  await until(async () => (await rows()).length > 0, 'the row');
  expect(await rows()).toMatchObject([{ secrets: [] }]);
  expect(upstream.requests.at(-1)?.url).not.toBe('/left');
  expect((await askSigned('/prod')).status).toBe(200);
});

test('hashes of the client are kept', async () => {
  const hash = createHash('sha256').update('other').digest('hex');
  await askSigned('/prod', { method: 'POST', body: 'x', headers: { 'x-amz-content-sha256': hash } });
  expect(upstream.requests.at(-1)?.headers['x-amz-content-sha256']).toBe(hash);
});
