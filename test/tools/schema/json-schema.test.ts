import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { compileJsonSchema } from '../../../src/tools/schema/json-schema/json-schema.ts';
import { patternReader, isFound } from '../../../src/tools/schema/json-schema/patterns/pattern.ts';
import { startRun } from '../../../src/tools/schema/json-schema/run.ts';
import { isMultipleOf } from '../../../src/tools/schema/json-schema/keywords/keywords-of-scalars.ts';

/** A literal with the key `then` could be taken for a promise. */
const DRAFT_07 = { $schema: 'http://json-schema.org/draft-07/schema#' };
const fits = async (schema: object, value: unknown): Promise<boolean> =>
  'value' in (await compileJsonSchema(schema, true).check(value));
const faultOf = async (schema: object, value: unknown): Promise<string> => {
  const checked = await compileJsonSchema(schema, true).check(value);
  return 'fault' in checked ? checked.fault : 'fits';
};
const ownProto = (value: unknown): object => Object.defineProperty({}, '__proto__', { value, enumerable: true });
const tree = {
  type: 'object',
  properties: { children: { type: 'array', items: { $ref: '#' } } },
  unevaluatedProperties: false,
};

/** Schemas, fitting values, and other values. */
const TABLE: [what: string, schema: object, fitting: unknown[], others: unknown[]][] = [
  ['true', { items: true }, [[1]], []],
  ['false', { items: false }, [[]], [[1]]],
  ['integers are numbers without a fraction', { type: 'integer' }, [1, 1.0, -0, 1e300], [1.5, '1', null]],
  ['a required name without a property', { required: ['a'] }, [{ a: 1 }, 7], [{}, { b: 1 }]],
  ['names of Object.prototype', { required: ['constructor', 'toString'] }, [{ constructor: 1, toString: 1 }], [{}]],
  [
    'names of Object.prototype',
    { properties: { constructor: { type: 'number' } } },
    [{}, { constructor: 1 }],
    [{ constructor: 'x' }],
  ],
  ['__proto__', { properties: ownProto({ type: 'number' }) }, [{}, ownProto(1)], [ownProto('x')]],
  [
    '__proto__',
    { required: ['__proto__'], additionalProperties: { type: 'number' } },
    [ownProto(1)],
    [{}, ownProto('x')],
  ],
  ['an empty name', { required: [''], properties: { '': { type: 'null' } } }, [{ '': null }], [{}, { '': 1 }]],
  [
    'lengths in code points',
    { minLength: 2, maxLength: 2 },
    ['ab', '\u{1f600}\u{1f600}', '\ud800a'],
    ['\u{1f600}', 'a', 'abc'],
  ],
  ['lone surrogates', { pattern: '^.$', const: '\ud800' }, ['\ud800'], ['\ud801', '\ufffd']],
  ['multiples by decimals', { multipleOf: 0.01 }, [0.07, 19.99, 4.35, 1e22, 0, -0.03], [0.075, 1e-7]],
  ['multiples of small numbers', { multipleOf: 1e-8 }, [12_391.239_123, 1e-8], [1e-9]],
  [
    'values of an enum by JSON',
    { enum: [{ a: 1, b: [0] }, 1, null] },
    [{ b: [-0], a: 1 }, 1, null],
    [{ a: 1 }, [1], '1', true],
  ],
  ['a constant', { const: false }, [false], [0, null, '']],
  ['no value', { enum: [] }, [], [1, null]],
  [
    'unique items by JSON',
    { uniqueItems: true },
    [[1, '1', true, [1], { a: 1 }], 'aa'],
    [
      [1, 1],
      [
        { a: 1, b: 2 },
        { b: 2, a: 1 },
      ],
      [[0], [-0]],
    ],
  ],
  ['items that need not be unique', { uniqueItems: false }, [[1, 1]], []],
  [
    'contained items',
    { contains: { const: 1 }, minContains: 2, maxContains: 3 },
    [
      [1, 1],
      [1, 2, 1, 1],
    ],
    [[], [1], [1, 1, 1, 1]],
  ],
  ['an item', { contains: true }, [[1]], [[]]],
  ['no item', { contains: { const: 1 }, minContains: 0 }, [[], [2]], []],
  ['minContains without contains', { minContains: 2 }, [[]], []],
  ['tuples', { prefixItems: [{ type: 'number' }], items: { type: 'string' } }, [[], [1], [1, 'a']], [['a'], [1, 1]]],
  [
    'tuples of draft-07',
    { ...DRAFT_07, items: [{ type: 'number' }], additionalItems: false },
    [[], [1]],
    [['a'], [1, 1]],
  ],
  ['items of draft-07', { ...DRAFT_07, items: { type: 'number' }, additionalItems: false }, [[1, 2]], [['a']]],
  ['more items of nothing', { ...DRAFT_07, additionalItems: false }, [[1, 2]], []],
  ['contained items of draft-07', { ...DRAFT_07, contains: { const: 1 } }, [[1]], [[], [2]]],
  [
    'dependencies of draft-07',
    { ...DRAFT_07, dependencies: { a: ['b'], c: { required: ['d'] } } },
    [{}, { a: 1, b: 1 }, { c: 1, d: 1 }, 1],
    [{ a: 1 }, { c: 1 }],
  ],
  [
    'patterns of names',
    { patternProperties: { '^a': { type: 'number' }, b$: { minimum: 5 } }, additionalProperties: false },
    [{ a: 1 }, { ab: 5 }],
    [{ ab: 1 }, { a: 'x' }, { c: 1 }],
  ],
  ['names', { propertyNames: { maxLength: 2 } }, [{ ab: 1 }], [{ abc: 1 }]],
  [
    'conditions',
    { if: { required: ['a'] }, ['then' as string]: { required: ['b'] }, else: { required: ['c'] } },
    [{ a: 1, b: 1 }, { c: 1 }],
    [{ a: 1 }, {}],
  ],
  ['a condition without consequence', { if: false }, [1], []],
  ['a consequence without condition', { ['then' as string]: false, else: false }, [1], []],
  ['one of', { oneOf: [{ minimum: 5 }, { maximum: 5 }] }, [4, 6], [5]],
  ['not', { not: { type: 'string' } }, [1], ['a']],
  ['references', { $defs: { 'a/b~c d': { type: 'string' } }, $ref: '#/$defs/a~1b~0c%20d' }, ['x'], [1]],
  ['references with more beside them', { $defs: { a: { minimum: 1 } }, $ref: '#/$defs/a', maximum: 2 }, [1, 2], [0, 3]],
  ['anchors', { $defs: { a: { $anchor: 'name', type: 'string' } }, items: { $ref: '#name' } }, [['x']], [[1]]],
  [
    "references by the schema's own name",
    {
      $id: 'https://example.org/a',
      properties: {
        b: { $ref: 'https://example.org/a' },
        c: { $ref: 'https://example.org/a#/properties/d' },
        d: { type: 'null' },
      },
      type: 'object',
    },
    [{ b: {}, c: null }],
    [{ b: 1 }, { c: 1 }],
  ],
  [
    'references without the name of a schema that has one',
    {
      $id: 'https://example.org/a',
      $defs: { b: { $anchor: 'c', type: 'null' } },
      $ref: '#/$defs/b',
      allOf: [{ $ref: '#c' }],
    },
    [null],
    [1],
  ],
  ['recursion', tree, [{}, { children: [{ children: [] }] }], [{ children: [{ child: 1 }] }, { children: 1 }]],
  ['definitions of either draft', { definitions: { a: { type: 'string' } }, $ref: '#/definitions/a' }, ['x'], [1]],
  [
    'annotations',
    {
      title: 't',
      description: 'd',
      default: 1,
      examples: [],
      deprecated: true,
      readOnly: true,
      writeOnly: true,
      $comment: 'c',
      'x-own': { any: 1 },
    },
    [1, null, {}],
    [],
  ],
  [
    'bytes',
    { type: 'string', 'x-skillcell-bytes': true, maxLength: 2 },
    [new Uint8Array(2)],
    ['x', new Uint8Array(3), {}],
  ],
  [
    'bytes in place of other values',
    { anyOf: [{ type: ['object', 'array', 'string'] }, { required: ['length'], type: 'object' }] },
    [{}],
    [new Uint8Array(2)],
  ],
  [
    'bytes that are equal',
    { uniqueItems: true },
    [[new Uint8Array([1]), new Uint8Array([2])]],
    [[new Uint8Array([1]), new Uint8Array([1])]],
  ],
  // From here on: unevaluatedItems and unevaluatedProperties.
  [
    'names beside unevaluatedProperties',
    { properties: { a: true }, unevaluatedProperties: false },
    [{ a: 1 }, {}, 1],
    [{ a: 1, b: 1 }],
  ],
  [
    'names in allOf',
    { allOf: [{ properties: { a: true } }, { patternProperties: { '^b': true } }], unevaluatedProperties: false },
    [{ a: 1, bc: 1 }],
    [{ c: 1 }],
  ],
  [
    'names in a reference',
    { $defs: { a: { properties: { a: true } } }, $ref: '#/$defs/a', unevaluatedProperties: { type: 'number' } },
    [{ a: 'x', b: 1 }],
    [{ b: 'x' }],
  ],
  [
    'names in each alternative that fits',
    {
      anyOf: [
        { properties: { a: { const: 1 } }, required: ['a'] },
        { properties: { b: true }, required: ['b'] },
      ],
      unevaluatedProperties: false,
    },
    [{ a: 1 }, { a: 1, b: 1 }],
    [
      { a: 2, b: 1 },
      { a: 1, c: 1 },
    ],
  ],
  [
    'names in the fitting alternative',
    {
      oneOf: [
        { properties: { a: true }, required: ['a'] },
        { properties: { b: true }, required: ['b'] },
      ],
      unevaluatedProperties: false,
    },
    [{ a: 1 }, { b: 1 }],
    [{ a: 1, c: 1 }],
  ],
  ['no names in not', { not: { not: { properties: { a: true } } }, unevaluatedProperties: false }, [{}], [{ a: 1 }]],
  [
    'names in conditions',
    {
      if: { properties: { a: { const: 1 } }, required: ['a'] },
      ['then' as string]: { properties: { b: true } },
      else: { properties: { c: true } },
      unevaluatedProperties: false,
    },
    [{ a: 1, b: 1 }, { c: 1 }],
    [{ a: 1, c: 1 }, { a: 2 }, { b: 1 }],
  ],
  [
    'names of dependents',
    { dependentSchemas: { a: { properties: { b: true } } }, properties: { a: true }, unevaluatedProperties: false },
    [{ a: 1, b: 1 }],
    [{ b: 1 }],
  ],
  ['no names of cousins', { allOf: [{ properties: { a: true } }, { unevaluatedProperties: false }] }, [{}], [{ a: 1 }]],
  [
    'names that an inner schema has evaluated',
    { allOf: [{ unevaluatedProperties: true }], unevaluatedProperties: false },
    [{ a: 1 }],
    [],
  ],
  [
    'names of other objects',
    { properties: { a: { properties: { b: true } } }, unevaluatedProperties: false },
    [{ a: { c: 1 } }],
    [{ b: 1 }],
  ],
  [
    'additional names',
    { additionalProperties: { type: 'number' }, unevaluatedProperties: false },
    [{ a: 1 }],
    [{ a: 'x' }],
  ],
  ['items beside unevaluatedItems', { prefixItems: [true], unevaluatedItems: false }, [[], [1]], [[1, 2]]],
  [
    'contained items',
    { contains: { type: 'string' }, unevaluatedItems: { type: 'number' } },
    [['a', 1]],
    [['a', null], [1]],
  ],
  [
    'items in allOf',
    { allOf: [{ prefixItems: [true, true] }, { items: { type: 'number' } }], unevaluatedItems: false },
    [[1, 2, 3]],
    [],
  ],
  [
    'items of an alternative that fails',
    { oneOf: [{ items: false }, {}], unevaluatedItems: { minimum: 0 } },
    [[1]],
    [[-1]],
  ],
];

describe('a JSON schema is enforced by the specification', () => {
  test.each(TABLE.map(([what, schema, yes, no], index) => ({ title: `${what} (${index})`, schema, yes, no })))(
    '$title',
    async ({ schema, yes, no }) => {
      const verdicts = await Promise.all([...yes, ...no].map((value) => fits(schema, value)));
      expect(verdicts).toEqual([...yes.map(() => true), ...no.map(() => false)]);
    },
  );

  test.each<[string, unknown[], unknown[]]>([
    [
      'date-time',
      ['2026-11-23T03:04:05Z', '2026-11-23t03:04:05.123+01:00', '1998-12-31T23:59:60Z', '1998-12-31T15:59:60-08:00', 7],
      [
        '2026-11-23',
        '2026-11-23T24:00:00Z',
        '2026-02-29T00:00:00Z',
        '2026-11-23 03:04:05Z',
        '2026-11-23T03:04:05',
        '1998-12-31T22:59:60Z',
        '2026-11-23T03:60:00Z',
        '2026-11-23T03:00:61Z',
        '2026-11-23T03:00:00+24:00',
        '2026-11-23T03:00:00+01:60',
      ],
    ],
    [
      'date',
      ['2024-02-29', '2000-02-29', '2026-12-31'],
      ['2026-02-29', '1900-02-29', '2026-13-01', '2026-00-10', '2026-01-00', '2026-1-1', '2026-04-31'],
    ],
    ['time', ['03:04:05Z', '00:00:60+00:01'], ['03:04Z', '03:04:05', '3:04:05Z']],
    ['duration', ['P1D', 'PT1H30M', 'P3W', 'P1Y2M3DT4H5M6S'], ['P', 'PT', 'P1', '1D', 'P1W2D', 'P1H']],
    [
      'email',
      ['a@example.org', "o'neil+x@mail.example.org"],
      ['a', '@example.org', 'a@', 'a@b..c', '.a@b.c', 'a b@c.d', `${'a'.repeat(320)}@b.c`],
    ],
    [
      'hostname',
      ['example.org', 'a', 'xn--4gbwdl.xn--wgbh1c'],
      ['', '-a.b', 'a-.b', 'a..b', `${'a'.repeat(64)}.b`, 'a_b', `${'a.'.repeat(127)}a`],
    ],
    ['ipv4', ['127.0.0.1'], ['127.0.0', '256.0.0.1', '1.2.3.04']],
    ['ipv6', ['::1', '2001:db8::1', '::ffff:1.2.3.4'], ['::1%eth0', '1::2::3', '12345::']],
    [
      'uri',
      ['https://example.org/a?b=c#d', 'urn:isbn:1', 'mailto:a@b.c', 'http://u:p@[::1]:80/', 'a:', 'http://[v1.a]/'],
      [
        '/a',
        'a',
        'http://a b',
        'http://[::1',
        'http://[x]/',
        'http://a:b/',
        'a:%zz',
        'a:#b#c',
        'a:"',
        'http://a@b@c/',
        'a:?^',
        'a:#^',
        'a:/^',
        'http://a/^',
        '1:a',
      ],
    ],
    ['uri-reference', ['/a', 'a/b', '', '#x', '?x', '//h/x', 'a:b', './a:b'], ['1:b', 'a b', '\\', '//a b', '[']],
    [
      'uuid',
      ['123e4567-e89b-12d3-a456-426614174000', '123E4567-E89B-12D3-A456-426614174000'],
      ['123e4567e89b12d3a456426614174000', 'x23e4567-e89b-12d3-a456-426614174000'],
    ],
    ['json-pointer', ['', '/', '/a~0b~1c/0'], ['a', '/~', '/~2', '#/a']],
    ['int32', [2 ** 31 - 1, -(2 ** 31), 'x'], [2 ** 31, 1.5]],
    ['int64', [-(2 ** 63)], [2 ** 63]],
    ['uint8', [0, 255], [-1, 256]],
    ['float', [1.5, 3.4e38], [3.5e38]],
    ['double', [1.5, 1e308], []],
  ])('format %s', async (format, yes, no) => {
    for (const value of yes) expect(await fits({ format }, value), String(value)).toBe(true);
    for (const value of no) expect(await fits({ format }, value), String(value)).toBe(false);
  });
});

describe('a pattern has the same matches as in ECMAScript', () => {
  const texts = [
    '',
    'a',
    'ab',
    'A',
    'b1',
    '1',
    '_',
    '-',
    ' ',
    '\n',
    '\r',
    '\u2028',
    '\u00a0',
    '\ufeff',
    '\v',
    'é',
    'Ж',
    '漢',
    '\u{1f600}',
    '\u{1f600}a',
    'a b',
    'a\nb',
    '{',
    '}',
    '{2}',
    ']',
    '\\',
    '.',
    '/',
    '\u0000',
    '\b',
    '\u0301',
    '٣',
    'aaa',
    'Straße',
  ];

  test.each(
    [
      [
        '^a$',
        'a|b',
        '(?:a|b)+',
        '(?<n>a)b',
        '[ab]',
        '[^ab]',
        '[^]',
        '[a-c1-3]',
        '[\\w-]',
        '[-a]',
        '[a-]',
        '[\\s\\S]',
        '[^\\s]',
        '[\\S]',
        '[^\\S]',
      ],
      [
        '.',
        '^.$',
        '^..$',
        '\\d',
        '\\D',
        '\\w',
        '\\W',
        '\\s',
        '\\S',
        '\\bb',
        '\\Ba',
        '[\\b]',
        '\\t|\\n|\\v|\\f|\\r',
        '\\0',
        '\\cJ',
        '\\x41',
        '\\u0041',
      ],
      [
        '\\u{1f600}',
        '\\ud83d\\ude00',
        '[\\u{1f600}]',
        '^[^a]$',
        '\\p{L}',
        '\\P{L}',
        '\\p{Lu}',
        '\\p{Letter}',
        '\\p{gc=Nd}',
        '[\\p{L}\\p{N}]',
        '\\p{Script=Greek}',
        '\\p{sc=Cyrillic}',
        '[^\\p{L}]',
      ],
      [
        'a{2}',
        'a{2,}',
        'a{0,1}b',
        'a*?b',
        'a+?',
        'a??',
        '\\/',
        '\\.',
        '\\{2\\}',
        '[\\]]',
        '\\\\',
        '[\\\\]',
        '[\\]-a]',
        '漢|é',
        '^$',
        '$',
        '(?:)',
        '(|a)',
        '[\\d-]',
        '[\\x41-\\x43]',
      ],
    ].flat(),
  )('%s', (source) => {
    const pattern = patternReader()(source);
    const expected = texts.filter((text) => new RegExp(source, 'u').test(text));
    expect(texts.filter((text) => isFound(pattern, text, startRun()))).toEqual(expected);
  });

  // Many authors write these, although they are invalid with the flag `u`.
  test.each(['^\\-a', 'a}', ']', '{', 'a{', 'a{,2}', '[\\w-.]', '\\_', "\\'"])('%s, without a flag', (source) => {
    const pattern = patternReader()(source);
    const expected = texts.filter((text) => new RegExp(source).test(text));
    expect(texts.filter((text) => isFound(pattern, text, startRun()))).toEqual(expected);
  });

  test('for any source, or it is refused', () => {
    const piece = fc.constantFrom(
      'a',
      'b',
      '1',
      '(',
      ')',
      '(?:',
      '[',
      '[^',
      ']',
      '|',
      '*',
      '+',
      '?',
      '{2}',
      '{1,}',
      '{',
      '}',
      '^',
      '$',
      '.',
      '-',
      '\\d',
      '\\S',
      '\\w',
      '\\b',
      '\\-',
      '\\\\',
      '\\u0061',
      '\\x62',
      'é',
      '\u{1f600}',
      ',',
      '=',
      '!',
      '<',
      ':',
      '\\p{L}',
    );
    let compared = 0;
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 7 }), fc.array(piece, { maxLength: 4 }), (pieces, more) => {
        const source = pieces.join('');
        let pattern;
        let expected;
        try {
          expected = new RegExp(source, 'u');
          pattern = patternReader()(source);
        } catch {
          return;
        }
        compared += 1;
        for (const text of [...texts, more.join('')])
          expect(isFound(pattern, text, startRun()), JSON.stringify([source, text])).toBe(expected.test(text));
      }),
      { numRuns: Number(process.env['SCHEMA_RUNS'] ?? 2_000) },
    );
    expect(compared).toBeGreaterThan(100);
  });
});

test('multipleOf compares decimals, not binary numbers', () => {
  const decimals = fc.tuple(
    fc.integer({ min: -1_000_000, max: 1_000_000 }),
    fc.integer({ min: 1, max: 1_000 }),
    fc.integer({ min: 0, max: 6 }),
  );
  fc.assert(
    fc.property(decimals, ([units, divisor, places]) => {
      const [value, by] = [Number(`${units}e-${places}`), Number(`${divisor}e-${places}`)];
      expect(isMultipleOf(value, by)).toBe(units % divisor === 0);
    }),
  );
});

describe('faults', () => {
  test.each<[string, object, unknown, string]>([
    ['name their place', { properties: { a: { items: { type: 'number' } } } }, { a: [1, 'x'] }, 'a.1: expected number'],
    ['name no place at the top', { type: ['object', 'null'] }, 1, 'expected object or null'],
    ['are three at most', { required: ['a', 'b', 'c', 'd'] }, {}, 'a: is required; b: is required; c: is required'],
    ['of several keywords are joined', { minimum: 5, multipleOf: 2 }, 3, 'must be at least 5; must be a multiple of 2'],
    ['say the values', { enum: ['a', 'b'] }, 'c', 'must be one of "a", "b"'],
    ['say that there is no value', { enum: [] }, 1, 'fits nothing: its enum is empty'],
    ['say some of many values', { enum: [1, 2, 3, 4, 5, 6] }, 7, 'must be one of 1, 2, 3, 4, 5, …'],
    ['say no long value', { const: 'x'.repeat(99) }, 1, `must be "${'x'.repeat(39)}…`],
    ['name a key that is not allowed', { additionalProperties: false }, { b: 1 }, 'b: is not allowed'],
    ['of alternatives count them', { anyOf: [false, false] }, 1, 'fits none of 2 alternatives'],
    ['of alternatives say that several fit', { oneOf: [true, true, true] }, 1, 'fits more than one of 3 alternatives'],
    [
      'escape invisible characters',
      { additionalProperties: false },
      { 'a\u202e\n\u001b[31m': 1 },
      '"a\\u202e\\n\\u001b[31m": is not allowed',
    ],
    [
      'cut long names',
      { additionalProperties: false },
      { ['k'.repeat(1_000)]: 1 },
      `"${'k'.repeat(40)}": is not allowed`,
    ],
    ['cut long patterns', { pattern: `^${'a'.repeat(1_000)}$` }, 'x', `must match the pattern ^${'a'.repeat(176)}`],
    [
      'cut long places at their beginning',
      Array.from({ length: 12 }).reduce<object>((inner) => ({ additionalProperties: inner }), { type: 'null' }),
      Array.from({ length: 12 }).reduce<unknown>((inner) => ({ longer_name: inner }), 1),
      `…${Array.from({ length: 12 }).fill('longer_name').join('.').slice(-100)}: expected null`,
    ],
  ])('%s', async (_what, schema, value, expected) => {
    expect(await faultOf(schema, value)).toBe(expected);
  });

  test('never hold control characters of a terminal, and are short', async () => {
    const anything = fc.string({ unit: 'binary', maxLength: 300 });
    await fc.assert(
      fc.asyncProperty(fc.dictionary(anything, anything), fc.array(anything), async (named, values) => {
        const schema = { additionalProperties: { enum: values } };
        const told = await faultOf(schema, named);
        expect(told).toMatch(/^[^\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]{0,1000}$/u);
      }),
    );
  });
});

test('a schema of a tool must be an object, although JSON Schema allows other values', () => {
  for (const source of [true, false, null, [], 'object'])
    expect(() => compileJsonSchema(source, false)).toThrow('something else than an object');
});
