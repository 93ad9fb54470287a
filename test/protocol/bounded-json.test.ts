import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { JsonRefused, parseBoundedJson } from '../../src/protocol/channel/bounded-json.ts';

const CAPS = { maxBytes: 64 * 1024 * 1024 };
const parse = (text: string): unknown => parseBoundedJson(Buffer.from(text), CAPS);

describe('parseBoundedJson()', () => {
  it('reads the output of JSON.stringify', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 5 }), (value) => {
        const text = JSON.stringify(value);
        fc.pre(!/__proto__|constructor/.test(text));
        expect(parse(text)).toEqual(JSON.parse(text));
      }),
    );
  });

  it('keeps the error of the decoder or parser as the cause of a refusal', () => {
    const causeOf = (bytes: Uint8Array): unknown => {
      try {
        return parseBoundedJson(bytes, CAPS);
      } catch (error) {
        return (error as JsonRefused).cause;
      }
    };
    expect(causeOf(Buffer.from('{"a":}'))).toBeInstanceOf(SyntaxError);
    expect(causeOf(Buffer.from([0x22, 0xff, 0x22]))).toBeInstanceOf(TypeError);
  });

  it('throws only JsonRefused for any bytes', () => {
    const pieces = fc.constantFrom('{', '}', '[', ']', '"', '\\', ',', ':', '1', 'null', '"__proto__"', '\u0000', 'é');
    fc.assert(
      fc.property(
        fc.oneof(
          fc.uint8Array(),
          fc.array(pieces).map((all) => Buffer.from(all.join(''))),
        ),
        (bytes) => {
          try {
            parseBoundedJson(bytes, { maxBytes: 1_000, maxDepth: 8, maxValues: 50 });
          } catch (error) {
            expect(error).toBeInstanceOf(JsonRefused);
          }
        },
      ),
      { numRuns: 500 },
    );
  });

  it.each([
    ['arrays', '[', ']'],
    ['objects', '{"a":', '}'],
  ])('E09 refuses %s nested 200,000 deep without a RangeError', (_name, open, close) => {
    expect(() => parse(open.repeat(200_000) + '1' + close.repeat(200_000))).toThrow(JsonRefused);
    expect(() => parse(open.repeat(200_000))).toThrow(JsonRefused);
  });

  it('E09 takes 64 levels and refuses 65', () => {
    expect(parse('['.repeat(64) + ']'.repeat(64))).toBeInstanceOf(Array);
    expect(() => parse('['.repeat(65) + ']'.repeat(65))).toThrow(/64 levels/);
  });

  it('E09 refuses more than 200,000 values and takes 200,000 keys', () => {
    const object = (keys: number): string => `{${Array.from({ length: keys }, (_, key) => `"k${key}":0`).join(',')}}`;
    expect(Object.keys(parse(object(200_000)) as object)).toHaveLength(200_000);
    expect(() => parse(object(200_002))).toThrow(/200000 values/);
    expect(() => parse(`[${'[],'.repeat(100_001)}0]`)).toThrow(/200000 values/);
  });

  it('E09 refuses a string over the cap before it is parsed', () => {
    expect(() => parseBoundedJson(Buffer.from(`"${'x'.repeat(1_000)}"`), { maxBytes: 1_000 })).toThrow(/1000 bytes/);
  });

  it('does not count brackets and commas within strings', () => {
    const text = JSON.stringify({ a: '[[[[,,,,{{{{\\"[' });
    expect(parseBoundedJson(Buffer.from(text), { maxBytes: 1_000, maxDepth: 1, maxValues: 2 })).toEqual(
      JSON.parse(text),
    );
  });

  it.each([
    ['half JSON', '{"a":'],
    ['no bytes', ''],
    ['a byte order mark', '\ufeff{}'],
    ['a NUL after the value', '{}\u0000'],
    ['two values', '{}{}'],
    ['10,000 empty lines', '\n'.repeat(10_000)],
    ['NaN', '{"id":NaN}'],
    ['a comment', '{/**/}'],
  ])('E02 refuses %s', (_name, text) => {
    expect(() => parse(text)).toThrow(JsonRefused);
  });

  it('E02 refuses invalid UTF-8', () => {
    expect(() => parseBoundedJson(Buffer.from([0x22, 0xff, 0x22]), CAPS)).toThrow(/UTF-8/);
  });

  it.each([
    '{"__proto__":{"polluted":1}}',
    '{"\\u005f\\u005fproto__":{"polluted":1}}',
    '{"a":[{"__proto__":null}]}',
    '{"constructor":{"prototype":{"polluted":1}}}',
    '{"\\u0063onstructor":{"prototype":{"polluted":1}}}',
  ])('E03 refuses the prototype keys of %s', (text) => {
    expect(() => parse(text)).toThrow(JsonRefused);
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  });
});
