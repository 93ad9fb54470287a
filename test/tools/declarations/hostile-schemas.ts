import fc from 'fast-check';
import type { StubTool } from '../../../src/tools/declarations/tool-places.ts';

/** Texts with a special meaning for a compiler, a reader of Markdown or a terminal. */
const CHARGED = [
  '*/ declare const stolen: 1; /*',
  '"""\nstolen = 1\n"""',
  '\nstolen = 1\r\nstolen: 1',
  '\u2028stolen\u2029stolen\u0085stolen\u000bstolen\u000cstolen\u001cstolen',
  '```\n~~~\n````',
  '\u202estolen\u2066\u200b\ufeff',
  '\u0000\u0007\u001b[2J',
  '\ud800',
  '\\',
  '*/',
  '*\\/',
  '${stolen}',
  'a*',
  '/',
  '# type: ignore[',
  '// @ts-nocheck',
  '__proto__',
  'constructor',
  'then',
  'new',
  'get',
  'self',
  'class',
  'None',
  '__debug__',
  '1',
  '-1',
  '',
  'é',
  'ﬁ',
  '😀',
];

const text = fc.oneof(
  fc.constantFrom(...CHARGED),
  fc.string({ unit: 'binary', maxLength: 8 }),
  fc.string({ maxLength: 8 }),
);
const nonsense = fc.oneof(fc.constantFrom(0, -1, 1.5, 1e21, true, false, null, NaN, [], {}), text);
const kind = fc.constantFrom('string', 'number', 'integer', 'boolean', 'null', 'object', 'array', 'file');
const reference = fc.oneof(
  fc.constantFrom(
    '#',
    '#/$defs/a',
    '#/$defs/b',
    '#/definitions/c',
    '#/properties/a',
    '#/constructor',
    '#/$defs/%',
    '#a',
    '#/$defs',
  ),
  text,
);

const pair = (name: string, value: fc.Arbitrary<unknown>): fc.Arbitrary<[string, unknown]> =>
  fc.tuple(fc.constant(name), value);

/** JSON schemas: valid, useless, and with nonsense at any place. */
export const anySchema: fc.Arbitrary<unknown> = fc.letrec((tie) => {
  const schema = tie('schema');
  const often = <T>(value: fc.Arbitrary<T>): fc.Arbitrary<unknown> =>
    fc.oneof({ arbitrary: value, weight: 9 }, { arbitrary: nonsense, weight: 1 });
  const schemas = often(fc.array(schema, { maxLength: 4 }));
  const named = often(fc.dictionary(fc.oneof(fc.constantFrom('a', 'b', 'c'), text), schema, { maxKeys: 4 }));
  return {
    schema: fc.oneof(
      { maxDepth: 6, withCrossShrink: true },
      { arbitrary: fc.record({ type: kind }), weight: 3 },
      { arbitrary: fc.record({ $ref: reference }), weight: 2 },
      { arbitrary: nonsense, weight: 1 },
      { arbitrary: tie('object'), weight: 6 },
    ),
    object: fc
      .uniqueArray(
        fc.oneof(
          pair('$ref', reference),
          pair('type', often(fc.oneof(kind, fc.array(kind, { maxLength: 3 })))),
          pair('description', often(text)),
          pair('format', nonsense),
          pair('const', nonsense),
          pair('enum', often(fc.array(nonsense, { maxLength: 5 }))),
          pair('properties', named),
          pair('required', often(fc.array(fc.oneof(fc.constantFrom('a', 'b'), text), { maxLength: 3 }))),
          pair('additionalProperties', schema),
          pair('patternProperties', named),
          pair('items', fc.oneof(schema, schemas)),
          pair('prefixItems', schemas),
          pair('additionalItems', schema),
          pair('minItems', nonsense),
          pair('allOf', schemas),
          pair('anyOf', schemas),
          pair('oneOf', schemas),
          pair('not', schema),
          pair('nullable', nonsense),
          pair('$defs', named),
          pair('definitions', named),
          pair('$anchor', text),
          pair('x-skillcell-bytes', fc.boolean()),
        ),
        { maxLength: 6, selector: ([name]) => name },
      )
      .map((pairs) => Object.fromEntries(pairs)),
  };
})['schema'];

const segment = fc.oneof(
  fc.constantFrom(
    'crm',
    'find',
    'then',
    'call',
    'new',
    'get',
    'set',
    'delete',
    'class',
    'import',
    'readonly',
    'a-b',
    'None',
    '__proto__',
    '_x',
    'aio',
    'tools',
    'Promise',
  ),
  fc.stringMatching(/^[A-Za-z_][A-Za-z0-9_-]{0,5}$/),
);

/** Tools of any id, description and schemas. */
export const anyTool: fc.Arbitrary<StubTool> = fc.record(
  {
    id: fc.array(segment, { minLength: 1, maxLength: 8 }).map((segments) => segments.join('.')),
    description: text,
    input: anySchema,
    output: anySchema,
  },
  { requiredKeys: ['id', 'description'] },
);

/** Schemas that are deep, wide, or larger than they look. */
export function largeSchemas(): unknown[] {
  const nested = (wrap: (inner: unknown) => unknown): unknown => {
    let schema: unknown = { type: 'string' };
    for (let level = 0; level < 20_000; level += 1) schema = wrap(schema);
    return schema;
  };
  const many = (count: number, one: (at: number) => unknown): Record<string, unknown> =>
    Object.fromEntries(Array.from({ length: count }, (_, at) => [`d${at}`, one(at)]));
  const circle: Record<string, unknown> = { properties: {} };
  Object.assign(circle, { items: [circle], allOf: [circle], properties: { circle } });
  return [
    ...['items', 'not', 'additionalProperties'].map((name) => nested((inner) => ({ [name]: inner }))),
    nested((inner) => ({ allOf: [inner] })),
    nested((a) => ({ properties: { a } })),
    circle,
    { properties: many(20_000, () => ({ description: 'd'.repeat(500) })) },
    { enum: Array.from({ length: 20_000 }, (_, at) => `v${at}`) },
    { properties: { ['n'.repeat(1e6)]: { description: 'x\n'.repeat(1e6) } }, description: '\u200b'.repeat(1e6) },
    { $ref: '#/$defs/d0', $defs: many(3_000, (at) => ({ $ref: `#/$defs/d${at + 1}` })) },
    {
      $ref: '#/$defs/d0',
      $defs: many(300, (at) => ({ allOf: [{ $ref: `#/$defs/d${at + 1}` }, { $ref: `#/$defs/d${at + 2}` }] })),
    },
    {
      allOf: Array.from({ length: 50 }, (_, at) => ({
        anyOf: Object.values(many(20, (n) => ({ properties: { [`a${at}`]: { const: n } } }))),
      })),
    },
    {
      $ref: '#/$defs/d0',
      $defs: many(2, () => ({ properties: { x: { allOf: [{ $ref: '#/$defs/d0' }, { $ref: '#/$defs/d1' }] } } })),
    },
  ];
}
