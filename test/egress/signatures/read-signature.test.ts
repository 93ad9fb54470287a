import { describe, expect, test } from 'vitest';
import type { HeldSecret } from '../../../src/egress/secrets/held-secret.ts';
import type { HeldAwsKeys } from '../../../src/egress/signatures/held-aws-keys.ts';
import { makeAccessKeyId } from '../../../src/egress/signatures/make-access-key-id.ts';
import { readSignature } from '../../../src/egress/signatures/read-signature.ts';

const ID = 'AKIAPLACEHOLDER22222';
const held = (value: string, placeholder: string): HeldSecret => ({
  ...{ name: 'KEYS', header: 'authorization', value, placeholder },
});
const KEYS: HeldAwsKeys = {
  name: 'KEYS',
  accessKeyId: held('AKIAREALREALREALREAL', ID),
  secretAccessKey: held('real-secret-key', 'fake-secret-key'),
};
const FIELDS = `Credential=${ID}/20150830/us-east-1/s3/aws4_request, SignedHeaders=host;x-amz-date, Signature=00`;
const SIGNED = `AWS4-HMAC-SHA256 ${FIELDS}`;

function read(authorization: string, path = '/b/k', more: readonly string[] = []): string {
  const headers = ['Host', 's3.test', 'Authorization', authorization, ...more];
  const found = readSignature({ headers, path }, [KEYS]);
  if (found === undefined) return 'no signature';
  return 'unsupported' in found ? found.unsupported : `${found.task.region} ${found.task.service}`;
}

test.each([
  ['of a client of Amazon', SIGNED],
  ['without spaces', SIGNED.replaceAll(', ', ',')],
  ['with its fields in another order', `AWS4-HMAC-SHA256 ${FIELDS.split(', ').toReversed().join(', ')}`],
])('a signature %s is read', (_name, authorization) => {
  expect(read(authorization)).toBe('us-east-1 s3');
});

test.each([
  ['of another key', SIGNED.replace(ID, 'AKIAOTHEROTHEROTHERO')],
  ['of the scheme Bearer', `Bearer ${ID}`],
  ['of the scheme Basic', `Basic ${btoa(`${ID}:x`)}`],
])('an authorization %s has no signature of the keys', (_name, authorization) => {
  expect(read(authorization)).toBe('no signature');
});

test('the placeholder in another parameter of the query is no signature', () => {
  expect(read('', `/?Action=GetAccessKeyLastUsed&AccessKeyId=${ID}`)).toBe('no signature');
});

describe('unsupported', () => {
  test.each<[string, string, string?, string[]?]>([
    ['a presigned URL', '', `/b/k?X-Amz-Credential=${ID}%2F20150830%2Fus-east-1%2Fs3%2Faws4_request&X-Amz-Signature=0`],
    ['a presigned URL', '', `/b/k?x-amz-%63redential=${ID}/20150830`],
    ['a presigned URL', '', `/b/k?%E9=1&X-Amz-Credential=${ID}`],
    ['a presigned URL', '', `/b/k?AWSAccessKeyId=${ID}&Signature=0&Expires=1`],
    ['a presigned URL', SIGNED, `/b/k?X-Amz-Credential=${ID}`],
    ['a second signature in the query', SIGNED, '/b/k?X-Amz-Signature=0'],
    ['a second signature in the query', SIGNED, '/b/k?X-Amz-Algorithm=AWS4-HMAC-SHA256'],
    ['a signature of the kind AWS', `AWS ${ID}:frJIUN8DYpKDtOLCwo=`],
    ['a signature of the kind AWS4-ECDSA-P256-SHA256', SIGNED.replace('HMAC', 'ECDSA-P256')],
    ['a signature of the kind aws4-hmac-sha256', SIGNED.replace('AWS4-HMAC-SHA256', 'aws4-hmac-sha256')],
    ['a signature without its parts', SIGNED.replace('aws4_request', 'aws3_request')],
    ['a signature without its parts', SIGNED.replace('/s3/', '/s3/x/')],
    ['a signature without its parts', SIGNED.replace('us-east-1', 'us east')],
    ['a signature without its parts', SIGNED.replace(`=${ID}`, `=x${ID}`)],
    ['a signature without its parts', SIGNED.replace('SignedHeaders=host;x-amz-date', 'SignedHeaders=')],
    ['a signature without its parts', SIGNED.replace(', Signature=00', '')],
    ['signatures of chunks', SIGNED, '/b/k', ['x-amz-content-sha256', 'STREAMING-AWS4-HMAC-SHA256-PAYLOAD']],
    ['signatures of chunks', SIGNED, '/b/k', ['x-amz-content-sha256', 'STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER']],
    ['signatures of chunks', SIGNED, '/b/k', ['x-amz-content-sha256', 'STREAMING-AWS4-ECDSA-P256-SHA256-PAYLOAD']],
    ['signatures of chunks', SIGNED, '/b/k', ['x-amz-content-sha256', 'STREAMING-AWS4-HMAC-SHA256-EVENTS']],
    ['an unknown x-amz-content-sha256', SIGNED, '/b/k', ['x-amz-content-sha256', 'required']],
    ['an unknown x-amz-content-sha256', SIGNED, '/b/k', ['x-amz-content-sha256', '']],
    ['an unknown x-amz-date', SIGNED, '/b/k', ['x-amz-date', 'Sun, 30 Aug 2015 12:36:00 GMT']],
    ['an unknown x-amz-date', SIGNED, '/b/k', ['x-amz-date', '20150230T123600Z']],
    ['text that is not UTF-8', SIGNED, '/b/%E9'],
    ['text that is not UTF-8', SIGNED, '/b/k?a=%E9'],
    ['text that is not UTF-8', SIGNED.replace('x-amz-date', 'x-amz-meta-a'), '/b/k', ['x-amz-meta-a', '\u00e9']],
  ])('%s: %s %s %s', (reason, authorization, path, more) => {
    expect(read(authorization, path, more)).toBe(reason);
  });
});

describe('the placeholder of an id', () => {
  test.each([
    ['AKIAREALREALREALREAL', /^AKIA[A-Z2-7]{16}$/],
    ['ASIAREALREALREALREAL', /^ASIA[A-Z2-7]{16}$/],
    ['GOOG1EXAMPLE', /^AKIA[A-Z2-7]{16}$/],
  ])('of %s has the form of one', (value, form) => {
    const ids = Array.from({ length: 50 }, () => makeAccessKeyId(value));
    expect(new Set(ids).size).toBe(50);
    ids.forEach((id) => expect(id).toMatch(form));
  });

  test('does not end as another value begins', () => {
    const others = ['ABCDEFGH', 'Akia-and-more', 'zyxwvuts'];
    for (let count = 0; count < 200; count++) expect(makeAccessKeyId('owneraccess', others)).not.toMatch(/[AOZ]$/);
  });
});
