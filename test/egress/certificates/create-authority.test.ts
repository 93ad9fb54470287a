import { webcrypto, X509Certificate } from 'node:crypto';
import { inspect } from 'node:util';
import { expect, onTestFinished, test, vi } from 'vitest';
import { createAuthority } from '../../../src/egress/certificates/create-authority.ts';
import { derFaults } from '../../fixtures/egress/der-faults.ts';
import { leafOf, nameOfLength } from '../../fixtures/egress/leaf-of.ts';

const HOUR_MS = 60 * 60 * 1_000;
const DAY_MS = 24 * HOUR_MS;

test('names of every length have a certificate that is proper DER and that the authority signed', async () => {
  const authority = await createAuthority();
  const { publicKey } = new X509Certificate(authority.pem);
  const faults: string[] = [];
  for (let length = 1; length <= 253; length += 1) {
    const name = nameOfLength(length);
    const leaf = await leafOf(authority, name);
    faults.push(...derFaults(leaf.raw).map((fault) => `${length}: ${fault}`));
    if (!leaf.verify(publicKey)) faults.push(`${length}: not signed`);
    if (leaf.checkHost(name) !== name) faults.push(`${length}: for another name, ${leaf.subjectAltName}`);
  }
  expect(faults).toEqual([]);
});

test('500 certificates have different positive serial numbers of 16 bytes, and signatures in DER', async () => {
  const authority = await createAuthority();
  const serials = new Set<string>();
  for (let count = 0; count < 500; count += 1) {
    const leaf = await leafOf(authority, `host-${count}.example`);
    expect(derFaults(leaf.raw)).toEqual([]);
    serials.add(leaf.serialNumber);
  }
  expect(serials.size).toBe(500);
  expect([...serials].filter((serial) => !/^[4-7][0-9A-F]{31}$/.test(serial))).toEqual([]);
});

test('100 authorities are proper DER and signed by themselves', async () => {
  for (let count = 0; count < 100; count += 1) {
    const certificate = new X509Certificate((await createAuthority()).pem);
    expect(derFaults(certificate.raw)).toEqual([]);
    expect(certificate.verify(certificate.publicKey)).toBe(true);
  }
});

test.each([
  ['api.example.com', 'DNS:api.example.com'],
  ['xn--bcher-kva.example', 'DNS:xn--bcher-kva.example'],
  ['localhost', 'DNS:localhost'],
  ['192.0.2.7', 'IP Address:192.0.2.7'],
  ['2001:db8::7', 'IP Address:2001:DB8:0:0:0:0:0:7'],
  ['::1', 'IP Address:0:0:0:0:0:0:0:1'],
  ['::ffff:192.0.2.7', 'IP Address:0:0:0:0:0:FFFF:C000:207'],
])('the certificate of %s names exactly this host', async (host, expected) => {
  const leaf = await leafOf(await createAuthority(), host);
  expect(leaf.subjectAltName).toBe(expected);
  expect([leaf.subject, leaf.ca]).toEqual(['O=skillcell', false]);
});

test('all certificates are valid for seven days, begun a day ago', async () => {
  const made = Date.UTC(2026, 10, 28, 12, 30, 15, 678);
  let time = made;
  const authority = await createAuthority({ now: () => time });
  time += 3 * DAY_MS;
  for (const { validFromDate, validToDate } of [
    new X509Certificate(authority.pem),
    await leafOf(authority, 'a.example'),
  ]) {
    expect(validFromDate.toISOString()).toBe('2026-11-27T12:30:15.000Z');
    expect(validToDate.toISOString()).toBe('2026-12-04T12:30:15.000Z');
  }
});

test('dates from 2050 on are written as a GeneralizedTime', async () => {
  const authority = await createAuthority({ now: () => Date.UTC(2049, 11, 28) });
  const { raw, validToDate } = new X509Certificate(authority.pem);
  expect(validToDate.toISOString()).toBe('2050-01-03T00:00:00.000Z');
  expect(raw.includes('\x17\x0d491227000000Z\x18\x0f20500103000000Z')).toBe(true);
});

test('an authority is fresh until two days before the end of its certificates', async () => {
  let time = Date.now();
  const authority = await createAuthority({ now: () => time });
  expect(authority.isFresh()).toBe(true);
  time += 4 * DAY_MS;
  expect(authority.isFresh()).toBe(true);
  time += 1;
  expect(authority.isFresh()).toBe(false);
  const { validToDate } = await leafOf(authority, 'late.example');
  expect(validToDate.getTime() - time).toBeGreaterThan(47 * HOUR_MS);
});

test('a second authority has another name and key, and has not signed the certificates of the first', async () => {
  const [first, second] = await Promise.all([createAuthority(), createAuthority()]);
  const leaf = await leafOf(first, 'a.example');
  const [mine, other] = [new X509Certificate(first.pem), new X509Certificate(second.pem)];
  expect(mine.subject).toMatch(/^CN=skillcell [0-9a-f]{8}$/);
  expect([leaf.issuer, leaf.checkIssued(mine), leaf.verify(mine.publicKey)]).toEqual([mine.subject, true, true]);
  expect(other.subject).not.toBe(mine.subject);
  expect([leaf.checkIssued(other), leaf.verify(other.publicKey)]).toEqual([false, false]);
});

test('callers of one host share its context, and callers of another host get another', async () => {
  const authority = await createAuthority();
  const [first, second, other] = await Promise.all(
    ['a.example', 'a.example', 'b.example'].map((host) => authority.contextFor(host)),
  );
  expect(second).toBe(first);
  expect(other).not.toBe(first);
  expect(await authority.contextFor('a.example')).toBe(first);
});

test('the 256 contexts that were asked for last are kept', async () => {
  const authority = await createAuthority();
  const [used, unused] = [await authority.contextFor('used.example'), await authority.contextFor('unused.example')];
  for (let count = 1; count <= 254; count += 1) await authority.contextFor(`${count}.example`);
  expect(await authority.contextFor('used.example')).toBe(used);
  await authority.contextFor('255.example');
  expect(await authority.contextFor('used.example')).toBe(used);
  expect(await authority.contextFor('unused.example')).not.toBe(unused);
});

test('a failure reaches all callers and is not kept', async () => {
  const authority = await createAuthority();
  const sign = vi.spyOn(webcrypto.subtle, 'sign').mockRejectedValueOnce(new Error('no entropy'));
  onTestFinished(() => sign.mockRestore());
  const ask = () => authority.contextFor('a.example');
  const outcomes = await Promise.allSettled([ask(), ask()]);
  expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  expect(await ask()).toBe(await ask());
});

test('the private key of the authority cannot be exported, and no output holds a private key', async () => {
  const generated = vi.spyOn(webcrypto.subtle, 'generateKey');
  onTestFinished(() => generated.mockRestore());
  const authority = await createAuthority();
  const context = await authority.contextFor('a.example');
  const wanted = new X509Certificate(authority.pem).publicKey.export({ format: 'der', type: 'spki' });
  const pairs = await Promise.all(generated.mock.results.map(({ value }) => value as Promise<webcrypto.CryptoKeyPair>));
  const owners: webcrypto.CryptoKeyPair[] = [];
  for (const pair of pairs)
    if (wanted.equals(Buffer.from(await webcrypto.subtle.exportKey('spki', pair.publicKey)))) owners.push(pair);
  expect(owners.map(({ privateKey }) => privateKey.extractable)).toEqual([false]);
  const shown = inspect([authority, context], { depth: null, showHidden: true }) + JSON.stringify([authority, context]);
  expect(shown).toContain('BEGIN CERTIFICATE');
  expect(shown).not.toContain('PRIVATE');
  expect(authority.pem).toMatch(/^-----BEGIN CERTIFICATE-----\n[A-Za-z0-9+/=\n]+-----END CERTIFICATE-----\n$/);
});
