import { expect, test } from 'vitest';
import * as z from 'zod';
import { compileToolSchema } from '../../../src/tools/schema/compile-tool-schema.ts';
import { structureGuard } from '../../../src/tools/schema/zod-structure.ts';

const numbers = Array.from({ length: 131_000 }, () => 1);
const objects = Array.from({ length: 30_000 }, () => ({ a: 1 }));
const either = z.union([z.string(), z.boolean(), z.object({ a: z.string() }), z.array(z.string())]);

test.each<[string, z.ZodType, unknown, string]>([
  [
    'texts',
    z.array(z.string()),
    numbers,
    'value.0: expected string; value.1: expected string; value.2: expected string',
  ],
  ['alternatives', z.array(either), numbers, 'value.0: fits none of 4 alternatives'],
  [
    'lists of alternatives',
    z.union([z.array(z.string()), z.array(z.boolean())]),
    numbers,
    'value: fits none of 2 alternatives',
  ],
  [
    'objects',
    z.array(z.strictObject({ b: z.string(), c: z.string() })),
    objects,
    'value.0.b: is required; value.0.c: is required; value.0.a: is not allowed',
  ],
  ['small numbers', z.array(z.number().max(0)), numbers, 'value.0: must be at most 0'],
])('a large value that misfits %s never reaches zod', async (_what, schema, value, told) => {
  let asked = 0;
  const watched = z.preprocess(counted, z.any());
  function counted(given: unknown): unknown {
    asked += 1;
    return given;
  }
  const { check } = await compileToolSchema(z.object({ value: schema, watched }));
  // A check before it refuses them, so the rest is not applied.
  const checked = await check({ value, watched: 1 });
  expect(checked).toEqual({ fault: expect.stringContaining(told) });
  expect(asked).toBe(0);
});

test("a small value gets the author's message", async () => {
  const { check } = await compileToolSchema(
    z.object({ name: z.string().max(3, 'is too long'), n: z.int('is no count').min(1) }),
  );
  expect(await check({ name: 'four', n: 1 })).toEqual({ fault: 'name: is too long' });
});

/** Schemas that accept more than their JSON schema. */
const GENEROUS: [z.ZodType, unknown][] = [
  [z.coerce.number(), '5'],
  [z.string().catch('x'), 5],
  [z.preprocess(String, z.string()), 5],
  [z.object({ a: z.preprocess(() => 'x', z.string()) }), { a: 1 }],
  [z.object({ a: z.string().default('x') }), {}],
  [z.object({ a: z.string().catch('x') }), {}],
  [z.object({ a: z.coerce.string() }), { a: 1 }],
  [z.string().trim().max(1), '  a  '],
  [z.number().overwrite(Math.abs).min(0), -1],
  [z.intersection(z.object({ a: z.string() }), z.object({ b: z.string() })), { a: '', b: '' }],
  [z.record(z.string(), z.number()), { a: 1 }],
  [z.record(z.enum(['a', 'b']), z.number()), { a: 1, b: 2 }],
  [z.partialRecord(z.enum(['a', 'b']), z.number()), { a: 1 }],
  [z.looseObject({ a: z.string() }), { a: '', b: 1 }],
  [z.object({ a: z.string() }), { a: '', b: 1 }],
  [z.object({ a: z.string() }).catchall(z.number()), { a: '', b: 1 }],
  [z.tuple([z.string(), z.number().optional()]), ['a']],
  [z.tuple([z.string()]).rest(z.number()), ['a', 1, 2]],
  [z.stringbool(), 'yes'],
  [z.literal([1, 'a', null]), null],
  [
    z.discriminatedUnion('k', [z.object({ k: z.literal('a'), n: z.coerce.number() }), z.object({ k: z.literal('b') })]),
    { k: 'a', n: '1' },
  ],
  [z.number().multipleOf(0.1), 0.3],
  [z.any().meta({ type: 'string' }), 5],
  [z.string().nullable(), null],
  [z.iso.datetime().transform((text) => new Date(text)), '2026-11-23T00:00:00Z'],
  [z.custom((value) => value instanceof Uint8Array), new Uint8Array(1)],
  [z.lazy(() => z.array(z.string())), ['a']],
  [z.xor([z.object({ a: z.coerce.string() }), z.object({ b: z.string() })]), { b: 'x' }],
  [z.codec(z.string(), z.number(), { decode: Number, encode: String }), '5'],
  [z.json(), { a: [1, null, 'x'] }],
  [z.templateLiteral(['a', z.number()]), 'a1'],
];

test.each(GENEROUS.map(([schema, value], index) => ({ index, schema, value })))(
  'a value that zod accepts always reaches zod ($index)',
  async ({ schema, value }) => {
    // Many copies, so that the value costs enough steps.
    const many = Array.from({ length: 10_000 }, () => value);
    expect((await z.array(schema).safeParseAsync(many)).success).toBe(true);
    expect(structureGuard(z.array(schema))(many)).toBeUndefined();
  },
);

test('a value that needs too much work does not reach zod either', () => {
  const alternatives = Array.from({ length: 30 }, (_each, index) => z.object({ [`k${index}`]: z.string() }));
  expect(structureGuard(z.array(z.union([...alternatives, z.number()])))(numbers)).toBe('takes too much work to check');
});
