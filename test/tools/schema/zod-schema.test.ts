import { describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { compileZodSchema } from '../../../src/tools/schema/zod-schema.ts';
import { createDisclosureTools } from '../../../src/tools/agent/disclosure-tools.ts';
import { createRunScriptTool } from '../../../src/jobs/run-script-tool.ts';
import type { SkillsSubsystem } from '../../../src/skills/index.ts';

// No import here loads the large flavour of zod, which brings messages for both flavours.
const { tools } = createDisclosureTools({ skills: { skills: [] } as unknown as SkillsSubsystem, consumer: 'test' });
const runScript = createRunScriptTool({ jobOf: () => undefined, run: () => Promise.reject(new Error('no job')) });
const inputOf = (id: string): z.ZodMiniType =>
  [...tools, runScript].find((tool) => tool.id === id)?.input as z.ZodMiniType;

it('the small flavour of zod has no messages of its own', () => {
  expect(z.safeParse(z.string().check(z.minLength(1)), '').error?.issues[0]?.message).toBe('Invalid input');
});

it.each([
  ['skills.list', { foo: 1 }, 'there is no field foo, got 1'],
  ['skills.list', 5, 'the value must be an object, got 5'],
  ['skills.load', { skill: '' }, 'skill must be a text that is not empty, got ""'],
  [
    'skills.load',
    { skil: 'a' },
    'skill is missing: it must be a text; there is no field skil, got "a". Did you mean skill?',
  ],
  ['skills.read', { skill: 'a', path: 'b', as: 'x' }, 'as must be one of text, bytes, got "x"'],
  ['skills.read', { skill: 'a', path: 'b', offset: -1 }, 'offset must be a whole number of at least 0, got -1'],
  ['skills.read', { skill: 'a', path: 'b', limit: 0 }, 'limit must be a whole number from 1 to 2000, got 0'],
  ['skills.run_script', { skill: 'a', script: 'b', args: 'x' }, 'args must be a list, got "x"'],
  ['skills.run_script', { skill: 'a', script: 'b', args: [5] }, 'args.0 must be a text, got 5'],
])('%s explains the fault of %j', async (id, value, fault) => {
  expect(await compileZodSchema(inputOf(id), 'input').check(value)).toEqual({ fault });
});

it('skills.run_script names the most arguments', async () => {
  const value = { skill: 'a', script: 'b', args: Array.from({ length: 200 }, () => 'x') };
  expect(await compileZodSchema(inputOf('skills.run_script'), 'input').check(value)).toEqual({
    fault: 'args must be a list with at most 100 entries, got a list of 200',
  });
});

it('advice keeps the dots of a path, and loses its full stop', async () => {
  const schema = z.strictObject({
    place: z.strictObject({ city: z.optional(z.string()), zip: z.optional(z.string()) }),
  });
  expect(await compileZodSchema(schema, 'input').check({ place: { unrelated: 1 } })).toEqual({
    fault: 'there is no field place.unrelated, got 1. There are place.city, place.zip',
  });
});

it('a message of the schema itself stays', async () => {
  const schema = z.object({ name: z.string().check(z.refine((name) => name !== 'x', 'must not be x')) });
  expect(await compileZodSchema(schema, 'input').check({ name: 'x' })).toEqual({ fault: 'name: must not be x' });
});

const text = (pattern: RegExp, words?: string): z.ZodMiniString<string> => z.string().check(z.regex(pattern, words));
const PATTERN = String.raw`^[a-z\d\-]{2,4}$`;
const EVIL = text(/^(a+)+$/);
// Long enough for V8 to take a second.
const BAD = `${'a'.repeat(27)}b`;

describe('a pattern of a zod schema', () => {
  const check = (schema: z.ZodMiniType, value: unknown): Promise<unknown> =>
    compileZodSchema(schema, 'input').check(value);

  it.each([
    ['alone', EVIL, BAD],
    ['as one of two', z.union([EVIL, z.number()]), BAD],
    ['in a list', z.array(z.object({ a: z.optional(EVIL) })), [{ a: BAD }]],
    [
      'behind a transformation',
      z.pipe(
        z.transform((value) => value),
        EVIL,
      ),
      BAD,
    ],
    ['by reference', z.lazy(() => EVIL), BAD],
    ['as the name of a property', z.record(EVIL, z.number()), { [BAD]: 1 }],
    ['in a template', z.templateLiteral(['x', EVIL]), `x${BAD}`],
    ['of an address', z.url({ hostname: /^(a+)+$/ }), `http://${BAD}/`],
    ['of e-mail addresses', z.email({ pattern: /^(a+)+$/ }), BAD],
    ['of a custom format', z.stringFormat('own', /^(a+)+$/), BAD],
  ])('takes time in proportion to the text, %s', async (_name, schema, value) => {
    const before = process.threadCpuUsage();
    expect(await check(schema, value)).toMatchObject({ fault: expect.any(String) as string });
    const { user, system } = process.threadCpuUsage(before);
    expect((user + system) / 1_000).toBeLessThan(250);
  });

  it("keeps its author's message and its meaning", async () => {
    const schema = text(new RegExp(PATTERN, 'gi'), 'two to four, please');
    for (const good of ['ab', 'AB-1', 'ab']) expect(await check(schema, good)).toEqual({ value: good });
    for (const bad of ['a', 'abcde', 'a_b', ''])
      expect(await check(schema, bad)).toEqual({ fault: 'two to four, please' });
    expect(compileZodSchema(schema, 'input').json).toMatchObject({ pattern: PATTERN });
  });

  it.each<[string, z.ZodMiniType, string, string]>([
    ['datetime', z.iso.datetime({ offset: true }), '2026-11-23T20:00:00+01:00', '2026-11-23T25:00:00Z'],
    ['date', z.iso.date(), '2024-02-29', '2023-02-29'],
    ['time', z.iso.time({ precision: 3 }), '20:00:00.123', '20:00:00'],
    ['duration', z.iso.duration(), 'P1DT2H', 'P'],
    ['uuid', z.uuid({ version: 'v4' }), '7d444840-9dc0-41d1-b245-5ffdce74fad2', '7d444840-9dc0-11d1-b245-5ffdce74fad2'],
    ['email', z.email(), 'ada@example.org', 'ada@'],
    ['url', z.url({ protocol: /^https$/ }), 'https://example.org', 'http://example.org'],
    ['hash', z.hash('sha256'), 'a'.repeat(64), 'a'.repeat(63)],
    ['ipv6', z.ipv6(), '::1', '::g'],
    ['base64', z.base64(), 'YWJj', 'a'],
    ['template', z.templateLiteral([z.number(), 'px']), '12px', 'px'],
    ['starts', z.string().check(z.startsWith('a')), 'ab', 'b'],
  ])('of the kind %s fits the same values as before', async (_name, schema, good, bad) => {
    expect(z.safeParse(schema, good).success).toBe(true);
    expect(z.safeParse(schema, bad).success).toBe(false);
    expect(await check(schema, good)).toEqual({ value: good });
    expect(await check(schema, bad)).toHaveProperty('fault');
  });

  it('stays with V8 if RE2 does not support it', async () => {
    const schema = text(/^(?!x)(.)\1$/);
    expect(await check(schema, 'aa')).toEqual({ value: 'aa' });
    expect(await check(schema, 'xx')).toHaveProperty('fault');
    for (const pattern of [/^a.b$/s, /^b$/m]) expect(await check(text(pattern), 'a\nb')).toEqual({ value: 'a\nb' });
  });

  it('refuses a text that is too long for it', async () => {
    const schema = text(/^(?:a{20}b?){20,}$/);
    expect(await check(schema, 'a'.repeat(200_000))).toEqual({ fault: 'takes too much work to check' });
  });
});

it("an error of the author's function is passed on", async () => {
  const schema = z.string().check(
    z.refine(() => {
      throw new RangeError('not today');
    }),
  );
  await expect(compileZodSchema(schema, 'input').check('x')).rejects.toThrow('not today');
});
