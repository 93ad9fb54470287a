import fc from 'fast-check';
import { expect, test } from 'vitest';
import { toolStub, toolStubs } from '../../../src/tools/declarations/tool-stubs.ts';
import { describeWith, MISSING_PYTHON } from '../../fixtures/describe-with.ts';
import type { StubTool } from '../../../src/tools/declarations/tool-places.ts';
import { anyTool, largeSchemas } from './hostile-schemas.ts';
import { compileDeclarations, parsePython, refusedPrograms } from './stub-compilers.ts';

// oxlint-disable-next-line no-control-regex -- the pattern looks for control characters
const UNSEEN = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069\u200b\ufeff]/;

function largeTools(): StubTool[] {
  return largeSchemas().map((schema) => ({ id: 'x.y', description: '', input: schema, output: schema }));
}

const tools = fc.array(anyTool, { minLength: 30, maxLength: 60 });

test('tsc accepts the declarations of any tools, alone and together', async () => {
  await fc.assert(
    fc.asyncProperty(tools, async (list) => {
      const alone = list.map((tool) => toolStub(tool, 'typescript'));
      const together = toolStubs(list, 'typescript', { budgetTokens: 1e9 });
      const cut = toolStubs(list, 'typescript', { budgetTokens: 500 });
      expect(await compileDeclarations([...alone, together.text, cut.text])).toBe('');
    }),
    { numRuns: 3 },
  );
});

test('tsc accepts the declarations of large schemas', async () => {
  const texts = largeTools().map((tool) => toolStub(tool, 'typescript'));
  expect(await compileDeclarations(texts)).toBe('');
});

test('a program that follows the declarations compiles, and one that violates them is refused', async () => {
  const input = {
    type: 'object',
    properties: {
      name: { type: 'string' },
      limit: { type: 'integer' },
      near: { prefixItems: [{ type: 'number' }, { type: 'number' }] },
      within: { $ref: '#/$defs/area' },
      data: { type: 'string', 'x-skillcell-bytes': true },
    },
    required: ['name'],
    $defs: { area: { properties: { parts: { items: { $ref: '#/$defs/area' } }, kind: { enum: ['town', 'land'] } } } },
  };
  const output = { type: 'array', items: { type: 'object', properties: { since: { type: ['integer', 'null'] } } } };
  const { text } = toolStubs(
    [
      { id: 'crm.find', description: '', input, output },
      { id: 'crm.find-all', description: '', output },
      { id: 'crm.new', description: '', input: { properties: { id: {} }, required: ['id'] } },
    ],
    'typescript',
  );
  const good = {
    named:
      "const [row] = await tools.crm.find({ name: 'Ada', limit: 1 }); const at: number | null | undefined = row?.since;",
    nested: "await tools.crm.find({ name: '', near: [1, 2], within: { parts: [{ kind: 'town' }], kind: 'land' } });",
    bytes: "await tools.crm.find({ name: '', data: new Uint8Array(1) });",
    called: "for (const { since } of await tools.call('crm.find-all')) void since;",
    word: 'await tools.crm.new({ id: 1 });',
  };
  const bad = {
    without: 'await tools.crm.find({});',
    wrong: 'await tools.crm.find({ name: 1 });',
    further: "await tools.crm.find({ name: '', other: 1 });",
    short: "await tools.crm.find({ name: '', near: [1] });",
    deep: "await tools.crm.find({ name: '', within: { parts: [{ parts: [{ kind: 'sea' }] }] } });",
    text: "await tools.crm.find({ name: '', data: 'AA==' });",
    unknown: 'await tools.crm.lose({});',
    id: "await tools.call('crm.find', {});",
    result: "const rows: string[] = await tools.crm.find({ name: '' });",
  };
  expect(await refusedPrograms(text, { ...good, ...bad })).toEqual(Object.keys(bad));
});

describeWith('Python', MISSING_PYTHON, () => {
  test('parses the stubs of any tools, alone and together', async () => {
    await fc.assert(
      fc.asyncProperty(tools, async (list) => {
        const alone = list.map((tool) => toolStub(tool, 'python'));
        const together = toolStubs(list, 'python', { budgetTokens: 1e9 });
        const cut = toolStubs(list, 'python', { budgetTokens: 500 });
        const parsed = await parsePython([...alone, together.text, cut.text]);
        expect(parsed.flatMap(({ fault }) => fault ?? [])).toEqual([]);
      }),
      { numRuns: 6 },
    );
  });

  test('parses the stubs of large schemas', async () => {
    const parsed = await parsePython(largeTools().map((tool) => toolStub(tool, 'python')));
    expect(parsed.flatMap(({ fault }) => fault ?? [])).toEqual([]);
  });
});

test('the same tool gives the same bytes, on lines without invisible characters', () => {
  fc.assert(
    fc.property(anyTool, (tool) => {
      for (const language of ['typescript', 'python'] as const) {
        const text = toolStub(tool, language);
        expect(toolStub(structuredClone(tool), language)).toBe(text);
        expect(Buffer.from(text).toString() === text).toBe(true);
        expect(text).not.toMatch(UNSEEN);
        for (const line of text.split('\n')) expect(line).not.toMatch(/^\s*(`{3}|~{3})/);
      }
    }),
  );
});
