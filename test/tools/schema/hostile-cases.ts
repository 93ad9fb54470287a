const many = <T>(count: number, make: (index: number) => T): T[] => Array.from({ length: count }, (_, at) => make(at));
const named = <T>(count: number, make: (index: number) => T, prefix = 'p'): Record<string, T> =>
  Object.fromEntries(many(count, (index) => [`${prefix}${index}`, make(index)]));
const nested = (depth: number, wrap: (inner: unknown) => unknown, core: unknown = {}): object =>
  many(depth, () => wrap).reduce((inner, around) => around(inner), core) as object;
const letters = (count: number): string => many(count, (index) => 'ab'[((index * 7919) % 13) % 2]).join('');
const chain = (end: object): Record<string, object> => ({
  ...named(400, (index) => ({ $ref: `#/$defs/d${index + 1}` }), 'd'),
  d400: end,
});
const objects = (): object[] => many(12_000, (index) => ({ a: index, b: 1 }));
const keys = (): object => named(20_000, () => 1);
const ones = (): number[] => many(40_000, () => 1);

/** Schemas of at most 64 KiB with values of at most 256 KiB of JSON that cost the most. */
export const HOSTILE_CASES: Record<string, () => [schema: object, value: unknown]> = {
  'a pattern that backtracks': () => [{ pattern: '^(a+)+$' }, `${'a'.repeat(200_000)}!`],
  'a pattern of many states': () => [{ pattern: '(a|b)*a(a|b){20}[cd]' }, letters(60_000)],
  'a pattern of many instructions': () => [{ pattern: '(?:a?){900}[bc]' }, 'a'.repeat(3_000)],
  'a pattern of nothing': () => [{ pattern: '(?:a*)*'.repeat(500) }, 'a'.repeat(2_000)],
  'patterns of names': () => [{ patternProperties: named(600, (index) => ({ minimum: index })) }, keys()],
  'classes of Unicode': () => [
    { patternProperties: Object.fromEntries(many(90, (index) => [`[\\p{L}\\p{N}\\p{M}]${index}`, true])) },
    keys(),
  ],
  'too many classes of Unicode': () => [{ pattern: '[\\p{L}\\p{N}\\p{M}]'.repeat(3_000) }, 'a'],
  'unique items': () => [{ uniqueItems: true }, objects()],
  'unique items of unique items': () => [
    nested(30, (inner) => ({ uniqueItems: true, items: inner })),
    nested(30, (inner) => [inner], objects()),
  ],
  alternatives: () => [{ items: { oneOf: many(900, (index) => ({ required: [`q${index}`] })) } }, objects()],
  'alternatives that all fit': () => [{ items: { allOf: many(900, () => ({ anyOf: [{}] })) } }, objects()],
  'a tree that is checked twice at each level': () => [
    { allOf: [{ items: { $ref: '#' } }, { items: { $ref: '#' } }] },
    nested(60, (inner) => [inner]),
  ],
  'a fan of references': () => [
    {
      $defs: { ...named(30, (i) => ({ allOf: many(2, () => ({ $ref: `#/$defs/f${i + 1}` })) }), 'f'), f30: {} },
      $ref: '#/$defs/f0',
    },
    1,
  ],
  'contained items': () => [{ items: { contains: { contains: { const: 1 } } } }, many(300, () => many(300, () => 2))],
  'many required names': () => [{ items: { required: many(6_000, (index) => `r${index}`) } }, objects()],
  'many values': () => [{ items: { enum: many(4_000, (index) => ({ a: index })) } }, objects()],
  'a large value': () => [{ allOf: many(900, () => ({ const: [1] })) }, ones()],
  'many names': () => [{ properties: named(900, () => ({ type: 'string' })) }, keys()],
  'unevaluated properties': () => [
    { allOf: many(300, () => ({ additionalProperties: true })), unevaluatedProperties: { type: 'string' } },
    keys(),
  ],
  'nested unevaluated items': () => [
    nested(30, (inner) => ({ anyOf: [inner, { unevaluatedItems: true }], unevaluatedItems: true })),
    ones(),
  ],
  'a chain of references': () => [{ $defs: chain({}), items: { $ref: '#/$defs/d0' } }, ones()],
  'a chain of references at each level': () => [
    { $defs: chain({ items: { $ref: '#/$defs/d0' } }), $ref: '#/$defs/d0' },
    nested(60, (inner) => [inner]),
  ],
  'large multiples': () => [{ items: { multipleOf: 1e-300 } }, many(20_000, () => 1.5e300)],
  'names of names': () => [nested(8, (inner) => ({ propertyNames: { allOf: [inner, inner] } }), true), keys()],
  'long texts': () => [{ allOf: many(900, () => ({ minLength: 1, format: 'uri' })) }, `a:${'a'.repeat(250_000)}`],
  'texts of a format': () => [{ anyOf: many(900, () => ({ format: 'email' })) }, 'a.'.repeat(125_000)],
  dependents: () => [{ dependentSchemas: named(900, () => ({ minProperties: 1 })) }, keys()],
  'many names with many dependents': () => [{ items: { dependentRequired: named(3_000, () => []) } }, objects()],
};
