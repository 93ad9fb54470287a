import { describe, expect, it } from 'vitest';
import { redact, sanitizeErrorText } from '../../src/broker/redact.ts';

describe('redact()', () => {
  const SECRET = 'k/ey+with=odd?chars';

  it.each<[string, string]>([
    ['as it is', SECRET],
    ['in an address', encodeURIComponent(SECRET)],
    ['as base64', Buffer.from(SECRET).toString('base64')],
    ['as base64 without padding', Buffer.from(SECRET).toString('base64').replace(/=+$/, '')],
    ['as base64 for addresses', Buffer.from(SECRET).toString('base64url')],
    ['in JSON', JSON.stringify('a"b\\c').slice(1, -1)],
  ])('removes a secret %s, each time', (_form, written) => {
    const redacted = redact(`one ${written}, two ${written}.`, [SECRET, 'a"b\\c']);
    expect(redacted).not.toContain(written);
    expect(redacted.replaceAll(/=+/g, '')).toBe('one [redacted], two [redacted].');
  });

  it('leaves all else as it is, and takes an empty secret for none', () => {
    expect(redact('nothing $& here', ['', 'other'])).toBe('nothing $& here');
  });
});

it('an error text that is too long for a sandbox ends in …', () => {
  expect(sanitizeErrorText('a'.repeat(500))).toBe('a'.repeat(500));
  expect(sanitizeErrorText('a'.repeat(501))).toBe(`${'a'.repeat(499)}…`);
});
