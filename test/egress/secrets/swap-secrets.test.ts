import { describe, expect, test } from 'vitest';
import type { HeldSecret } from '../../../src/egress/secrets/held-secret.ts';
import { makePlaceholder } from '../../../src/egress/secrets/make-placeholder.ts';
import { namesIn } from '../../../src/egress/secrets/names-in.ts';
import { swapSecrets } from '../../../src/egress/secrets/swap-secrets.ts';

const held = (name: string, value: string): HeldSecret => {
  return { name, value, placeholder: makePlaceholder(value), header: 'authorization' };
};
const github = held('GITHUB', 'ghp_16C7e42F292c6912E7710c838347Ae178B4a');
const umlaut = held('UMLAUT', 'pässwörd 123');
const secrets = [github, umlaut];
const base64 = (text: string): string => Buffer.from(text, 'latin1').toString('base64');

describe('swapSecrets()', () => {
  test('replaces each placeholder, and names its secret once', () => {
    const { placeholder, value } = github;
    expect(swapSecrets(`Bearer ${placeholder}`, secrets)).toEqual({ value: `Bearer ${value}`, used: ['GITHUB'] });
    expect(swapSecrets(`${placeholder},${umlaut.placeholder},${placeholder}`, secrets)).toEqual({
      value: `${value},${Buffer.from(umlaut.value).toString('latin1')},${value}`,
      used: ['GITHUB', 'UMLAUT'],
    });
  });

  test.each(['Basic ', 'basic ', 'BASIC  '])('replaces a placeholder inside the base64 of %j', (scheme) => {
    const swapped = swapSecrets(scheme + base64(`user:${github.placeholder}`), secrets);
    expect(swapped).toEqual({ value: scheme + base64(`user:${github.value}`), used: ['GITHUB'] });
    const unpadded = base64(`u:${github.placeholder}`).replaceAll('=', '');
    expect(swapSecrets(scheme + unpadded, secrets).value).toBe(scheme + base64(`u:${github.value}`));
  });

  test('sends the bytes of UTF-8', () => {
    const { value } = swapSecrets(`Basic ${base64(`u:${umlaut.placeholder}`)}`, secrets);
    expect(Buffer.from(value.slice(6), 'base64').toString()).toBe(`u:${umlaut.value}`);
  });

  test('leaves headers without a placeholder as they are', () => {
    const inside = base64(`user:${github.placeholder}`);
    for (const header of ['', 'Basic', 'Basic dTpw', 'Basic dTpw=', 'Basic a', `Digest ${inside}`, `Basic ${inside}!`])
      expect(swapSecrets(header, secrets)).toEqual({ value: header, used: [] });
    expect(swapSecrets(`Bearer ${github.placeholder}`, [])).toEqual({
      value: `Bearer ${github.placeholder}`,
      used: [],
    });
  });

  test('never searches a value for placeholders', () => {
    const nested = { ...held('NESTED', 'x'.repeat(40)), value: `before ${github.placeholder} after` };
    expect(swapSecrets(nested.placeholder, [nested, github]).value).toBe(nested.value);
  });
});

describe('namesIn()', () => {
  test('names secrets whose placeholders stand in a text', () => {
    expect(namesIn(`/path?token=${github.placeholder}`, secrets)).toEqual(['GITHUB']);
    expect(namesIn(`Basic ${base64(`u:${umlaut.placeholder}`)}`, secrets)).toEqual(['UMLAUT']);
    expect(namesIn('/path', secrets)).toEqual([]);
  });
});
