import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { makePlaceholder } from '../../../src/egress/secrets/make-placeholder.ts';
import { createWasher } from '../../../src/egress/secrets/washer.ts';
import { makeWashTable } from '../../../src/egress/secrets/wash-table.ts';
import { type Encoding, ENCODINGS } from './encodings.ts';
import { washChunks } from './wash-chunks.ts';

const secretOf = (value: string) => ({ value, placeholder: makePlaceholder(value) });
const TOKEN = secretOf('ghp_16C7e42F292c6912E7710c838347Ae178B4a');

const plainUnit = fc.constantFrom(...'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789');
const oddUnit = fc.constantFrom(...'ab09 "\'\\/+%&<>=?#_-~!*é漢😀ÿ');
const value = fc
  .oneof(
    fc.string({ unit: plainUnit, minLength: 8, maxLength: 60, size: 'max' }),
    fc.string({ unit: oddUnit, minLength: 8, maxLength: 40, size: 'max' }),
    fc.string({ unit: 'grapheme', minLength: 8, maxLength: 20, size: 'max' }),
  )
  // Values of few different characters stand in their own neighbourhood by chance.
  .filter((text) => new Set(text).size > 5 && !/[\p{Cc}\p{Cs}]/u.test(text));
/** Without characters that are part of an escape. */
const surroundings = fc.string({ unit: fc.constantFrom(...'xyzé漢, .:{}[]\n'), maxLength: 100, size: 'max' });
const lengths = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 30, size: 'max' });

type Wash = typeof washChunks;

/** A value in any neighbourhood and any chunks arrives as its placeholder. */
function arrivesWashed({ encode, decode }: Encoding, wash: Wash) {
  return fc.property(value, surroundings, surroundings, lengths, (value, before, after, lengths) => {
    const secret = secretOf(value);
    const body = Buffer.from(encode(before + value + after));
    const washed = wash(makeWashTable([secret]), body, lengths);
    expect(decode(washed.toString())).toBe(before + secret.placeholder + after);
  });
}

describe('createWasher() replaces a value by its placeholder', () => {
  test.each(ENCODINGS)('in $name, in any neighbourhood and any chunks', (encoding) => {
    fc.assert(arrivesWashed(encoding, washChunks), { numRuns: 20 });
  });

  test.each(ENCODINGS)('in $name, and without washing the value arrives', (encoding) => {
    const unwashed: Wash = (_table, body) => body;
    expect(fc.check(arrivesWashed(encoding, unwashed), { numRuns: 1, endOnFailure: true }).failed).toBe(true);
  });

  test.each(ENCODINGS)('in $name, divided at every byte', ({ encode, decode }) => {
    const table = makeWashTable([TOKEN]);
    for (const before of ['', 'a', 'ab']) {
      const body = Buffer.from(encode(`${before}${TOKEN.value}!`));
      const lengths = Array.from({ length: body.length - 1 }, (_, index) => [index + 1, Infinity]);
      const washed = lengths.map((each) => decode(washChunks(table, body, each).toString()));
      expect(new Set(washed)).toEqual(new Set([`${before}${TOKEN.placeholder}!`]));
      expect(decode(washChunks(table, body, [1]).toString())).toBe(`${before}${TOKEN.placeholder}!`);
    }
  });

  test('in latin1, and in UTF-8 that was read as latin1', () => {
    const secret = secretOf('pässwörd-ÿ-1234');
    const table = makeWashTable([secret]);
    const misread = Buffer.from(secret.value).toString('latin1');
    for (const body of [
      Buffer.from(secret.value, 'latin1'),
      Buffer.from(misread),
      Buffer.from(JSON.stringify(misread)),
    ])
      expect(washChunks(table, body, [1]).toString()).toContain(secret.placeholder);
    const encoded = Buffer.from(`ab${secret.value}`, 'latin1').toString('base64');
    const decoded = Buffer.from(washChunks(table, Buffer.from(encoded)).toString(), 'base64').toString();
    expect(decoded).toBe(`ab${secret.placeholder.slice(0, secret.value.length)}`);
  });

  test('in base64, in which neighbours share digits with it', () => {
    const table = makeWashTable([TOKEN]);
    for (const before of ['', '\xff', '\xff\xff'])
      for (const after of ['', '\xff', '\xff\xff', '\xff\xff\xff'])
        for (const encoding of ['base64', 'base64url'] as const) {
          const body = Buffer.from(before + TOKEN.value + after, 'latin1').toString(encoding);
          const washed = washChunks(table, Buffer.from(body)).toString();
          expect(washed).toHaveLength(body.length);
          expect(Buffer.from(washed, encoding).toString('latin1')).toBe(before + TOKEN.placeholder + after);
          expect(Buffer.from(washed, encoding).toString(encoding)).toBe(washed);
        }
  });

  test('of the longest of two secrets that begin alike', () => {
    const short = secretOf('sk-abcdefghij');
    const long = secretOf('sk-abcdefghijklmnop');
    for (const secrets of [
      [short, long],
      [long, short],
    ]) {
      const table = makeWashTable(secrets);
      const body = Buffer.from(`${long.value} ${short.value}kl ${short.value}`);
      const washed = `${long.placeholder} ${short.placeholder}kl ${short.placeholder}`;
      for (const lengths of [[Infinity], [1], [15], [7]])
        expect(washChunks(table, body, lengths).toString()).toBe(washed);
    }
  });

  test('again and again without a byte between them', () => {
    const body = Buffer.from(TOKEN.value.repeat(50));
    for (const lengths of [[Infinity], [1], [13]])
      expect(washChunks(makeWashTable([TOKEN]), body, lengths).toString()).toBe(TOKEN.placeholder.repeat(50));
    expect(
      washChunks(makeWashTable([TOKEN]), Buffer.from(TOKEN.value + TOKEN.value.slice(1))).includes(TOKEN.value),
    ).toBe(false);
  });
});

describe('createWasher() leaves other bytes', () => {
  test('unchanged, in any chunks', () => {
    const other = Buffer.from(randomBytes(300_000).toString('base64'));
    const bodies = [
      randomBytes(300_000),
      other,
      Buffer.from(
        JSON.stringify(
          ENCODINGS.map(({ name }) => [name, '\\ % & "']),
          null,
          1,
        ),
      ),
    ];
    const table = makeWashTable([TOKEN, secretOf('a password of words'), secretOf('8 bytes!')]);
    for (const body of bodies)
      for (const lengths of [[Infinity], [16_384], [1000, 1, 2, 3, 4097]])
        expect(washChunks(table, body, lengths).equals(body)).toBe(true);
  });

  test('in the memory in which they came', () => {
    const chunk = Buffer.from('{"ok":true}\n'.repeat(1000));
    const [piece] = createWasher(makeWashTable([TOKEN])).push(chunk);
    expect(piece?.buffer).toBe(chunk.buffer);
    expect(piece).toHaveLength(chunk.length);
  });

  test('at once, if they begin no form', () => {
    const washer = createWasher(makeWashTable([TOKEN]));
    for (const event of ['data: hello\n\n', `data: ${TOKEN.value.slice(0, 20)}\n\n`, ': ping\r\n\r\n'])
      expect(Buffer.concat(washer.push(Buffer.from(event))).toString()).toBe(event);
    expect(Buffer.concat(washer.end())).toHaveLength(0);
  });

  test('after less than the longest form', () => {
    const table = makeWashTable([TOKEN]);
    const forms = ENCODINGS.map(({ encode }) => encode(`a${TOKEN.value}`)).join('');
    const washer = createWasher(table);
    let most = 0;
    let behind = 0;
    for (const byte of Buffer.from(forms)) {
      const pieces = washer.push(Buffer.of(byte));
      behind = pieces.length > 0 ? 0 : behind + 1;
      most = Math.max(most, behind);
    }
    expect(most).toBeGreaterThan(TOKEN.value.length - 2);
    expect(most).toBeLessThan(table.longest);
  });

  test('without secrets', () => {
    const body = randomBytes(1000);
    expect(washChunks(makeWashTable([]), body, [10]).equals(body)).toBe(true);
  });
});

describe('createWasher() at the end of a body that is cut within a value', () => {
  const table = makeWashTable([TOKEN]);

  test.each(ENCODINGS)('shows less than half and at most 11 bytes of it in $name', ({ encode }) => {
    const form = encode(TOKEN.value);
    for (let length = 1; length < form.length; length++) {
      const body = Buffer.from(`: ${form.slice(0, length)}`);
      const washed = washChunks(table, body, [7]);
      const isLong = length >= 12;
      if (isLong) expect(washed.toString('latin1')).not.toContain(form.slice(0, length).slice(4));
      else expect(washed.equals(body)).toBe(true);
    }
  });

  test('two washers of one table share nothing', () => {
    const [one, other] = [createWasher(table), createWasher(table)];
    one.push(Buffer.from(TOKEN.value.slice(0, 20)));
    expect(Buffer.concat([...other.push(Buffer.from(TOKEN.value.slice(20))), ...other.end()]).toString()).toBe(
      TOKEN.value.slice(20),
    );
  });
});
