import { describe, expect, test } from 'vitest';
import { makePlaceholder } from '../../../src/egress/secrets/make-placeholder.ts';
import { washText } from '../../../src/egress/secrets/wash-text.ts';
import { makeWashTable } from '../../../src/egress/secrets/wash-table.ts';
import { ENCODINGS } from './encodings.ts';

const value = 'ghp_16C7e42F292c6912E7710c838347Ae178B4a';
const placeholder = makePlaceholder(value);
const table = makeWashTable([{ value, placeholder }]);

describe('washText()', () => {
  test.each(ENCODINGS)('replaces a value in $name', ({ encode, decode }) => {
    expect(decode(washText(encode(`Bearer ${value}, x`), table))).toBe(`Bearer ${placeholder}, x`);
  });

  test('replaces a value in other cases, as in the name of a header or a host', () => {
    expect(washText(`X-${value.toUpperCase()}`, table)).toBe(`X-${placeholder}`);
    expect(washText(`https://${value.toLowerCase()}.example/`, table)).toBe(`https://${placeholder}.example/`);
    const encoded = Buffer.from(`a${value}`).toString('base64').toLowerCase();
    expect(washText(`x-${encoded}`, table)).not.toContain(encoded.slice(4, 20));
  });

  test('leaves other texts, also such in latin1', () => {
    for (const text of ['', 'OK', 'gh', 'text/plain; charset="é"', '\xff\xfe', placeholder])
      expect(washText(text, table)).toBe(text);
  });
});
