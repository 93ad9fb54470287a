import { describe, expect, it } from 'vitest';
import { outgoingPlace } from '../../src/outgoing/outgoing-place.ts';
import { outgoingRefused, outgoingUnavailable, shownUrl } from '../../src/outgoing/outgoing-refused.ts';

describe('outgoingPlace()', () => {
  it('is the address without a slash at its end', () => {
    expect(outgoingPlace('https://Host.example:443/a/')).toBe('https://host.example/a');
    expect(outgoingPlace('https://host.example')).toBe('https://host.example');
  });

  it.each([
    ['https://secret@host/', 'a user name or a password'],
    ['https://:secret@host/', 'a user name or a password'],
    ['https://host/?secret', 'a query or a fragment'],
    ['https://host/#secret', 'a query or a fragment'],
    ['mailto:secret', 'it is not an address'],
    ['secret', 'it is not an address'],
  ])('refuses %s without repeating a possible secret', (text, reason) => {
    expect(() => outgoingPlace(text)).toThrow(expect.objectContaining({ code: 'source.refused' }) as Error);
    expect(() => outgoingPlace(text)).toThrow(reason);
    expect(() => outgoingPlace(text)).not.toThrow(/secret/);
  });
});

describe('an address in a message', () => {
  it('has no control characters and is cut off', () => {
    const messages = [outgoingRefused('no', 'a\u001b[2J\u202eb'), outgoingUnavailable('no', 'a\u001b[2J\u202eb')];
    for (const { message } of messages) expect(message).not.toMatch(/[\p{Cc}\u202e]/u);
    expect(shownUrl(new URL(`https://host/${'a'.repeat(1_000)}?secret#secret`))).toBe(
      `https://host/${'a'.repeat(187)}`,
    );
  });
});
