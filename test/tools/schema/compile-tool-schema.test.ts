import { jsonSchema, zodSchema } from 'ai';
import { describe, expect, test, vi } from 'vitest';
import * as z from 'zod';
import * as mini from 'zod/mini';
import * as z3 from 'zod/v3';
import { compileToolSchema } from '../../../src/tools/schema/compile-tool-schema.ts';
import type { ToolSchema } from '../../../src/tools/schema/schema-source.ts';
import { defineTool } from '../../../src/tools/define/tool.ts';
import { SkillcellError } from '../../../src/contracts/errors/skillcell-error.ts';

const person = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] };
const standard = {
  '~standard': {
    vendor: 'own',
    validate: (value: unknown) =>
      typeof value === 'number'
        ? { value: value + 1 }
        : { issues: [{ message: 'no number', path: ['a', { key: 'b' }] }] },
    jsonSchema: { input: () => ({ type: 'number' }), output: () => ({ type: 'integer' }) },
  },
};

function raise(message: string): never {
  throw new Error(message);
}

describe('a schema of a tool may be', () => {
  test.each<[string, ToolSchema]>([
    ['a schema of zod', z.object({ name: z.string() })],
    ['a schema of zod/mini', mini.object({ name: mini.string() })],
    ['a schema of zod 3', z3.object({ name: z3.string() })],
    ['a JSON schema', person],
    ['a JSON schema of draft-07', { $schema: 'http://json-schema.org/draft-07/schema#', ...person }],
    ['jsonSchema() of the AI SDK', jsonSchema(person as object)],
    ['jsonSchema() of the AI SDK whose schema comes later', jsonSchema(Promise.resolve(person as object))],
    ['zodSchema() of the AI SDK', zodSchema(z.object({ name: z.string() }))],
    ['zodSchema() of the AI SDK with zod 3', zodSchema(z3.object({ name: z3.string() }))],
    ['a function that returns a schema', () => jsonSchema(person as object)],
  ])('%s, which is enforced and provides its JSON schema', async (_kind, source) => {
    const { json, check } = await compileToolSchema(source);
    expect(json).toMatchObject(person);
    expect(await check({ name: 'Ada' })).toEqual({ value: { name: 'Ada' } });
    expect(await check({ name: 7 })).toEqual({ fault: expect.stringMatching(/^name: .*string/i) });
    expect(await check({})).toEqual({ fault: expect.stringMatching(/^name: /) });
  });

  test('a callable standard schema, which is not called', async () => {
    const callable = Object.assign(vi.fn(), standard);
    const { json, check } = await compileToolSchema(callable);
    expect(json).toEqual({ type: 'number' });
    expect(await check(1)).toEqual({ value: 2 });
    expect(callable).not.toHaveBeenCalled();
  });

  test('a standard schema that provides its JSON schema, for either side', async () => {
    const { json, check } = await compileToolSchema(standard, { io: 'output' });
    expect(json).toEqual({ type: 'integer' });
    expect((await compileToolSchema(standard)).json).toEqual({ type: 'number' });
    expect(await check(1)).toEqual({ value: 2 });
    expect(await check('x')).toEqual({ fault: 'a.b: no number' });
  });

  test('a schema of zod, whose defaults and transformations count, and whose sides differ', async () => {
    const source = z.object({ n: z.number().default(3), at: z.string().transform((text) => text.length) });
    const { json, check } = await compileToolSchema(source);
    expect(json).toMatchObject({ required: ['at'] });
    expect(await check({ at: 'four' })).toEqual({ value: { n: 3, at: 4 } });
    expect((await compileToolSchema(z.object({ n: z.number().default(3) }), { io: 'output' })).json).toMatchObject({
      required: ['n'],
    });
  });

  test('a schema of zod, which is compiled once for each side, for all tools', async () => {
    const source = mini.object({ name: mini.string() });
    const input = await compileToolSchema(source, { subject: 'the input of a.b' });
    expect(await compileToolSchema(source, { subject: 'the input of c.d' })).toBe(input);
    expect(await compileToolSchema(source, { io: 'output' })).not.toBe(input);
  });

  test('a JSON schema with a default, which fills nothing in', async () => {
    const { check } = await compileToolSchema({ properties: { n: { default: 3 } } });
    expect(await check({})).toEqual({ value: {} });
  });
});

describe('a schema is refused when it is offered', () => {
  const refused = async (source: unknown, outside = false): Promise<string> => {
    const compiled = compileToolSchema(source as ToolSchema, { subject: 'the input of crm.find', outside });
    const error: unknown = await compiled.catch((caught: unknown) => caught);
    if (!SkillcellError.isInstance(error)) throw new Error('it was taken', { cause: error });
    expect(error.code).toBe('tool.schema-unsupported');
    expect(error.message).toMatch(
      /^Cannot offer the input of crm\.find: its schema cannot be enforced whole, got .+\.$/,
    );
    return error.message;
  };

  test.each<[string, unknown, RegExp]>([
    ['an unknown keyword', { requird: ['a'] }, /"requird"/],
    ['below others', { properties: { a: { items: { nullable: true } } } }, /"nullable" at properties\.a\.items\./],
    ['of another draft', { additionalItems: false }, /"additionalItems"/],
    ['of another draft', { $schema: 'http://json-schema.org/draft-07/schema#', prefixItems: [true] }, /"prefixItems"/],
    ['another draft', { $schema: 'http://json-schema.org/draft-04/schema#' }, /"\$schema".*draft-04/],
    ['dynamic scope', { $dynamicRef: '#a' }, /"\$dynamicRef"/],
    ['dynamic scope', { $dynamicAnchor: 'a' }, /"\$dynamicAnchor"/],
    ['a vocabulary', { $vocabulary: {} }, /"\$vocabulary"/],
    ['a remote schema', { $ref: 'https://example.org/other.json' }, /"\$ref" with "https:/],
    ['no schema there', { $ref: '#/$defs/none' }, /"\$ref"/],
    ['no schema there', { default: {}, $ref: '#/default' }, /"\$ref"/],
    ['no schema there', { properties: {}, $ref: '#/properties' }, /"\$ref"/],
    ['a broken escape', { $ref: '#/%zz' }, /"\$ref"/],
    ['itself', { $ref: '#' }, /"\$ref" back to its own schema/],
    ['itself', { $defs: { a: { allOf: [{ $ref: '#/$defs/b' }] }, b: { not: { $ref: '#/$defs/a' } } } }, /"\$ref" back/],
    ['a name below the top', { properties: { a: { $id: 'b' } } }, /"\$id" below the top at properties\.a/],
    ['two anchors of one name', { $defs: { a: { $anchor: 'x' }, b: { $anchor: 'x' } } }, /"\$anchor"/],
    ['a format that is not enforced', { format: 'idn-email' }, /"format" with "idn-email"/],
    ['content', { contentEncoding: 'base64' }, /"contentEncoding"/],
    ['look-ahead', { pattern: '^(?=a)' }, /"\(\?=".*at|"\(\?="/],
    ['look-behind', { pattern: '(?<!a)b' }, /"\(\?<!"/],
    ['a back-reference', { pattern: '(a)\\1' }, /back-reference/],
    ['a pattern of others', { patternProperties: { '(?i)a': true } }, /"\(\?i"/],
    ['no pattern', { pattern: '(' }, /"\(" without/],
    ['no pattern', { pattern: ')' }, /"\)" without/],
    ['no pattern', { pattern: '[a' }, /"\[" without/],
    ['no pattern', { pattern: '[b-a]' }, /range/],
    ['no pattern', { pattern: '[]' }, /empty class/],
    ['no pattern', { pattern: '*a' }, /RE2/],
    ['no pattern', { pattern: '\\' }, /backslash/],
    ['no pattern', { pattern: '\\q' }, /no escape/],
    ['a property of others', { pattern: '\\p{Emoji}' }, /general category/],
    ['a large pattern', { pattern: '(?:a{1000}){100}' }, /10000 instructions/],
    ['large patterns', { pattern: '(?:a|b|c|d|e|f|g|h){1000}(?:a|b|c|d|e|f|g|h){1000}' }, /10000 instructions/],
    ['no type', { type: 'text' }, /"type" with another value/],
    ['no type', { type: [] }, /"type"/],
    ['no type', { type: 'constructor' }, /"type"/],
    ['no list', { required: 'a' }, /"required"/],
    ['no list', { required: [1] }, /"required"/],
    ['no list', { enum: 'a' }, /"enum"/],
    ['no list', { allOf: [] }, /"allOf"/],
    ['no list', { anyOf: {} }, /"anyOf"/],
    ['no list', { prefixItems: [] }, /"prefixItems"/],
    ['no schema', { items: [true] }, /something else than an object/],
    ['no schema', { not: 'a' }, /something else than an object/],
    ['no schemas', { properties: [] }, /"properties"/],
    ['no limit', { minLength: '3' }, /"minLength"/],
    ['no limit', { minItems: 1.5 }, /"minItems"/],
    ['no limit', { maxProperties: -1 }, /"maxProperties"/],
    ['no limit', { maximum: '1' }, /"maximum"/],
    ['no limit', { multipleOf: 0 }, /"multipleOf"/],
    ['no limit', { minimum: Number.NaN }, /number that is no JSON at minimum/],
    ['no flag', { uniqueItems: 'yes' }, /"uniqueItems"/],
    ['no text', { $anchor: 1 }, /"\$anchor"/],
    ['no text', { $anchor: 'a b' }, /"\$anchor"/],
    ['no text', { format: 1 }, /"format"/],
    ['no text', { pattern: 1 }, /"pattern"/],
    ['no text', { $ref: 1 }, /"\$ref"/],
    ['no lists', { dependentRequired: { a: 'b' } }, /"dependentRequired"/],
    ['no lists', { $schema: 'http://json-schema.org/draft-07/schema', dependencies: { a: [1] } }, /"dependencies"/],
    [
      'beside $ref',
      {
        $schema: 'http://json-schema.org/draft-07/schema#',
        definitions: { a: true },
        $ref: '#/definitions/a',
        minLength: 1,
      },
      /"minLength" beside "\$ref"/,
    ],
    ['no object', 'text', /something else than an object/],
    ['no object', [], /something else than an object/],
    ['no object', null, /something else than an object/],
    ['no JSON', { enum: [1n] }, /bigint/],
    ['no JSON', { properties: new Map() }, /object of a class, which is no JSON at properties/],
    ['endless values', { enum: Array.from({ length: 600_000 }, (_, index) => index) }, /"enum" with values that take/],
    ['zod without JSON', z.object({ at: z.date() }), /zod schema that cannot be written as a JSON schema/],
    ...[null, {}, 7].flatMap((part): [string, unknown, RegExp][] => [
      ['a member like that of other libraries', { '~standard': part }, /keyword "~standard"/],
      ['a member like that of zod', { _zod: part }, /zod schema that cannot be written as a JSON schema/],
    ]),
    ['another library without JSON', { '~standard': { vendor: 'own', validate: () => ({ value: 1 }) } }, /of own that/],
    [
      'another library that cannot write it as JSON',
      { '~standard': { ...standard['~standard'], jsonSchema: { input: (): never => raise('no dates') } } },
      /of own that cannot be written as a JSON schema \(no dates\)/,
    ],
  ])('with %s (%#)', async (_what, source, told) => {
    expect(await refused(source)).toMatch(told);
  });

  test('from outside, over 64 KiB, 1,000 schemas or a depth of 32', async () => {
    const sized = (bytes: number): object => ({ description: 'x'.repeat(bytes - '{"description":""}'.length) });
    const deep = (depth: number): object => (depth === 0 ? {} : { properties: { a: deep(depth - 1) } });
    const wide = (count: number): object => ({ prefixItems: Array.from({ length: count - 1 }, () => true) });
    for (const fitting of [sized(65_536), deep(32), wide(1_000)]) {
      expect(await compileToolSchema(fitting as ToolSchema, { outside: true })).toHaveProperty('json');
    }
    expect(await refused(sized(65_537), true)).toMatch(/65536 bytes/);
    expect(await refused(deep(33), true)).toMatch(/32 schemas in each other/);
    expect(await refused(wide(1_001), true)).toMatch(/1000 schemas/);
    for (const larger of [sized(65_537), deep(33), wide(1_001)]) {
      expect(await compileToolSchema(larger as ToolSchema)).toHaveProperty('json');
    }
  });

  test('that is deeper than the stack, without a stack overflow', async () => {
    let input: Record<string, unknown> = {};
    for (let depth = 0; depth < 20_000; depth += 1) input = { not: input };
    const deepest = defineTool({ id: 'deep', description: '', input, execute: async () => null });
    expect(await refused(deepest.input)).toMatch(/200 arrays and objects in each other/);
  });

  test('from outside that is not a JSON schema', async () => {
    expect(await refused(z.object({}), true)).toMatch(/object of a class/);
    expect(await refused(standard, true)).toMatch(/no JSON|keyword/);
  });
});

test('a schema is copied: later changes have no effect, and the copy is frozen', async () => {
  const source = { type: 'object', properties: { a: { type: 'string' } } };
  const { json, check } = await compileToolSchema(source);
  source.properties.a.type = 'number';
  expect(json).toEqual({ type: 'object', properties: { a: { type: 'string' } } });
  expect(await check({ a: 'x' })).toEqual({ value: { a: 'x' } });
  expect(Object.isFrozen(json['properties'])).toBe(true);
});
