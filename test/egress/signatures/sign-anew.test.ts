import { Sha256Node } from '@smithy/core/checksum';
import { SignatureV4 } from '@smithy/signature-v4';
import { describe, expect, test } from 'vitest';
import type { HeldSecret } from '../../../src/egress/secrets/held-secret.ts';
import type { HeldAwsKeys } from '../../../src/egress/signatures/held-aws-keys.ts';
import { readSignature, SIGNATURE_HEADERS } from '../../../src/egress/signatures/read-signature.ts';
import { signAnew } from '../../../src/egress/signatures/sign-anew.ts';
import { readAuthorization, signatureByHand } from '../../fixtures/egress/signature-by-hand.ts';

const DATE = '20150830T123600Z';
const part = (value: string, placeholder: string): HeldSecret => ({
  ...{ name: 'KEYS', header: 'authorization', value, placeholder },
});
/** The keys of Amazon's test suite. */
const KEYS: HeldAwsKeys = {
  name: 'KEYS',
  accessKeyId: part('AKIDEXAMPLE', 'AKIAPLACEHOLDER22222'),
  secretAccessKey: part('wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY', 'placeholderOfTheSecretKey0000000000000000'),
};
const TEMPORARY: HeldAwsKeys = { ...KEYS, sessionToken: part('the/token+of=temporary', 'placeholderOfTheToken0') };

interface Sent {
  method?: string;
  target: string;
  headers?: [string, string][];
  body?: string;
  service?: string;
  region?: string;
  signed?: string[];
  keys?: HeldAwsKeys;
}

/** Signs a request that a client has signed with the placeholder. The client's signature is arbitrary: it proves nothing. */
async function resign({ method = 'GET', target, headers = [], body, ...more }: Sent): Promise<Map<string, string>> {
  const { service = 'service', region = 'us-east-1', keys = KEYS } = more;
  const { signed = ['host', 'x-amz-date', ...headers.map(([name]) => name.toLowerCase())] } = more;
  const scope = `${DATE.slice(0, 8)}/${region}/${service}/aws4_request`;
  const list = [...new Set(signed)].toSorted().join(';');
  const all: [string, string][] = [
    ['Host', 'example.amazonaws.com'],
    ['X-Amz-Date', DATE],
    ...headers,
    [
      'Authorization',
      `AWS4-HMAC-SHA256 Credential=${keys.accessKeyId.placeholder}/${scope}, SignedHeaders=${list}, Signature=${'0'.repeat(64)}`,
    ],
  ];
  const read = readSignature({ headers: all.flat(), path: target }, [keys]);
  if (read === undefined || 'unsupported' in read) throw new Error(`not signed: ${read?.unsupported}`);
  const made = await signAnew(read.task, method, body === undefined ? undefined : Buffer.from(body));
  const result = new Map<string, string>();
  for (let index = 0; index < made.length; index += 2) result.set(made[index] ?? '', made[index + 1] ?? '');
  return result;
}

describe('requests of Amazon’s test suite get its signatures', () => {
  test.each<[string, Sent, string]>([
    ['get-vanilla', { target: '/' }, '5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31'],
    [
      'get-vanilla-query-order-key-case',
      { target: '/?Param2=value2&Param1=value1' },
      'b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500',
    ],
    [
      'get-unreserved',
      { target: '/-._~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz' },
      '07ef7494c76fa4850883e2b006601f940f8a34d404d0cfa977f52a65bbf5f24f',
    ],
    [
      'get-header-key-duplicate',
      {
        target: '/',
        headers: [
          ['My-Header1', 'value2'],
          ['My-Header1', 'value2'],
          ['My-Header1', 'value1'],
        ],
      },
      'c9d5ea9f3f72853aea855b47ea873832890dbdd183b4468f858259531a5138ea',
    ],
    [
      'get-header-value-trim',
      {
        target: '/',
        headers: [
          ['My-Header1', ' value1'],
          ['My-Header2', ' "a   b   c"'],
        ],
      },
      'acc3ed3afb60bb290fc8d2dd0098b9911fcaa05412b367055dee359757a9c736',
    ],
    [
      'post-vanilla',
      { method: 'POST', target: '/' },
      '5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b',
    ],
    [
      'post-x-www-form-urlencoded',
      {
        ...{ method: 'POST', target: '/', body: 'Param1=value1' },
        headers: [['Content-Type', 'application/x-www-form-urlencoded']],
      },
      'ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a',
    ],
  ])('%s', async (_name, sent, signature) => {
    const made = await resign(sent);
    expect(readAuthorization(made.get('authorization') ?? '')).toMatchObject({ id: 'AKIDEXAMPLE', signature });
    expect(made.get('x-amz-date')).toBe(DATE);
  });
});

const HASH = 'b94d27b9934d3e08a52e52d7da7dabfac484efe37a5380ee9088f7ace2efcde9';
const sha = (value: string): [string, string] => ['X-Amz-Content-Sha256', value];

describe('a signature made by hand is the same', () => {
  test.each<[string, Sent]>([
    [
      'encoded path of a service',
      { target: '/prod/a%20b%2Cc/%C3%A9?x=1', service: 'execute-api', region: 'eu-west-1' },
    ],
    ['raw path of a service', { target: '/prod/a(b)!c*', service: 'execute-api' }],
    ['slash at the end', { target: '/prod/', service: 'execute-api' }],
    ['key of S3', { target: '/b/a%20b%2Bc%C3%A9', service: 's3', headers: [sha(HASH)] }],
    ['raw characters in a key of S3', { target: "/b/a(b)!c*'d+e", service: 's3', headers: [sha(HASH)] }],
    ['lower-case escapes in a key of S3', { target: '/b/a%c3%a9', service: 's3', headers: [sha('UNSIGNED-PAYLOAD')] }],
    ['checksum in a trailer', { target: '/b/k', service: 's3', headers: [sha('STREAMING-UNSIGNED-PAYLOAD-TRAILER')] }],
    ['parameters without value', { target: '/b?uploads&acl=&prefix=a%2Fb+c', service: 's3', headers: [sha(HASH)] }],
    ['parameter that stands twice', { target: '/?a=2&a=1&A=3&a-b=4&a%20=5' }],
    ['parameters with the names of an object', { target: '/?constructor=2&toString&hasOwnProperty=1' }],
    [
      'headers with the names of an object',
      {
        target: '/',
        headers: [
          ['constructor', 'a'],
          ['toString', 'b'],
        ],
      },
    ],
    ['header in UTF-8', { target: '/', headers: [['x-amz-meta-a', Buffer.from('é€').toString('latin1')]] }],
    [
      'headers that the library leaves out',
      {
        target: '/',
        headers: [
          ['User-Agent', 'a'],
          ['Cache-Control', 'b'],
        ],
      },
    ],
    [
      'headers that the client does not sign',
      { target: '/', headers: [['X-Other', 'a']], signed: ['host', 'x-amz-date'] },
    ],
    ['signed names of missing headers', { target: '/', signed: ['host', 'x-amz-date', 'x-absent'] }],
    ['token', { target: '/', keys: TEMPORARY, headers: [['x-amz-security-token', 'placeholderOfTheToken0']] }],
    ['token that the client leaves out', { target: '/', keys: TEMPORARY }],
    ['foreign token of lasting keys', { target: '/', headers: [['x-amz-security-token', 'another']] }],
  ])('%s', async (_name, sent) => {
    const { method = 'GET', target, headers = [], service = 'service', region = 'us-east-1', keys = KEYS } = sent;
    const made = await resign(sent);
    const { signed, ...found } = readAuthorization(made.get('authorization') ?? '');
    expect(made.get('x-amz-security-token')).toBe(keys.sessionToken?.value);
    const values: [string, string][] = [
      ...headers.map(([name, value]): [string, string] => [name.toLowerCase(), value]),
      ...[...made, ['host', 'example.amazonaws.com'] as [string, string]],
    ];
    const payload = headers.find(([name]) => /sha256/i.test(name))?.[1];
    const signature = signatureByHand({
      ...{ method, target, signed, date: DATE, region, service },
      headers: Object.fromEntries(values),
      payload: payload === undefined ? { body: '' } : { hash: payload },
      secretAccessKey: keys.secretAccessKey.value,
    });
    expect(found).toEqual({ id: 'AKIDEXAMPLE', day: '20150830', region, service, signature });
    expect(signed).toContain('host');
    expect(signed.includes('x-amz-security-token')).toBe(keys.sessionToken !== undefined);
  });
});

test.each(['s3', 'execute-api'])('a request of a client of %s is signed as with the values', async (service) => {
  const sign = async (take: (held: HeldSecret) => string): Promise<Record<string, string>> => {
    const signer = new SignatureV4({
      ...{ service, region: 'eu-central-1', sha256: Sha256Node, uriEscapePath: service !== 's3' },
      credentials: {
        accessKeyId: take(TEMPORARY.accessKeyId),
        secretAccessKey: take(TEMPORARY.secretAccessKey),
        sessionToken: take(TEMPORARY.sessionToken as HeldSecret),
      },
    });
    const request = {
      ...{ protocol: 'https:', hostname: 'h.test', method: 'PUT', path: '/b/a%20b', body: 'hello world' },
      query: { 'x-id': 'PutObject', list: ['b', 'a'] },
      headers: { host: 'h.test', 'content-type': 'text/plain', 'x-amz-meta-a': 'b  c', 'content-length': '11' },
    };
    return (await signer.sign(request, { signingDate: new Date('2024-02-29T23:59:59Z') })).headers;
  };
  const [client, direct] = [await sign((held) => held.placeholder), await sign((held) => held.value)];
  const headers = Object.entries(client).flat();
  const read = readSignature({ headers, path: '/b/a%20b?x-id=PutObject&list=b&list=a' }, [TEMPORARY]);
  if (read === undefined || 'unsupported' in read) throw new Error('not signed');
  expect(read.task.needsBody).toBe(false);
  const made = await signAnew(read.task, 'PUT', undefined);
  const expected = SIGNATURE_HEADERS.flatMap((name) => [name, direct[name] ?? '']);
  expect(made.toSorted()).toEqual(expected.toSorted());
});

test('a client without a date of Amazon gets that of the signing', async () => {
  const authorization = `AWS4-HMAC-SHA256 Credential=${KEYS.accessKeyId.placeholder}/20150830/r/sts/aws4_request,SignedHeaders=date;host,Signature=0`;
  const headers = ['Host', 'h', 'Date', 'Sun, 30 Aug 2015 12:36:00 GMT', 'Authorization', authorization];
  const read = readSignature({ headers, path: '/' }, [KEYS]);
  if (read === undefined || 'unsupported' in read) throw new Error('not signed');
  const before = Math.trunc(Date.now() / 1000) * 1000;
  const made = await signAnew(read.task, 'GET', undefined);
  const date = made[made.indexOf('x-amz-date') + 1] ?? '';
  const when = Date.parse(date.replace(/(....)(..)(..T..)(..)(..Z)/, '$1-$2-$3:$4:$5'));
  expect(when).toBeGreaterThanOrEqual(before);
  expect(when).toBeLessThanOrEqual(Date.now());
  expect(readAuthorization(made[made.indexOf('authorization') + 1] ?? '').signed).toEqual(['host', 'x-amz-date']);
});

test('a body without its hash is hashed, and S3 gets the hash as a header', async () => {
  const sent = { method: 'PUT', target: '/b/k', body: 'hello world' };
  expect((await resign({ ...sent, service: 's3' })).get('x-amz-content-sha256')).toBe(HASH);
  expect((await resign({ ...sent, service: 'sts' })).has('x-amz-content-sha256')).toBe(false);
});
