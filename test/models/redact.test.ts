import { describe, expect, it } from 'vitest';
import { redact, sanitizeErrorText } from '../../src/models/redact.ts';

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

  it('leaves all other text unchanged, and ignores an empty secret', () => {
    expect(redact('nothing $& here', ['', 'other'])).toBe('nothing $& here');
  });
});

it.each([
  ['no /etc/passwd, C:\\Users\\me or file:///root (~/x)', 'no [path], [path] or [path] ([path])'],
  ['https://example.org/a and a/b and ./c', 'https://example.org/a and a/b and ./c'],
  ['open "/a b/c" and `~/f g`, not \'/g h"', 'open "[path]" and `[path]`, not \'[path] h"'],
  ['Bearer abcdef, x=sk-abcdef, task-abcdef, sk-abc', '[redacted], x=[redacted], task-abcdef, sk-abc'],
])('an error text for a sandbox has no path and no credential: %s', (given, kept) => {
  expect(sanitizeErrorText(given)).toBe(kept);
});

it('an error text that is too long for a sandbox ends in …', () => {
  expect(sanitizeErrorText('a'.repeat(500))).toBe('a'.repeat(500));
  expect(sanitizeErrorText('a'.repeat(501))).toBe(`${'a'.repeat(499)}…`);
});
