import fc from 'fast-check';
import { expect, test } from 'vitest';
import { compileToolSchema } from '../../../src/tools/schema/compile-tool-schema.ts';
import { DRAFTS, judge, ofDraft, schemas, values } from './ajv-reference.ts';

test.each(DRAFTS)(
  'values fit a schema of %s exactly if they fit it in ajv',
  async (_draft, $schema, only2020, makeReference) => {
    const ajv = makeReference();
    let both = 0;
    await fc.assert(
      fc.asyncProperty(schemas(only2020), fc.array(values, { minLength: 1, maxLength: 6 }), async (part, tried) => {
        const schema = ofDraft(part, $schema);
        const { check } = await compileToolSchema(schema, { outside: true });
        const reference = ajv.compile(schema);
        for (const value of tried) {
          const expected = judge(reference, value);
          if (expected === undefined) continue;
          const fits = 'value' in (await check(value));
          if (fits) both += 1;
          expect(fits, JSON.stringify({ schema, value })).toBe(expected);
        }
      }),
      { numRuns: Number(process.env['SCHEMA_RUNS'] ?? 400) },
    );
    expect(both).toBeGreaterThan(50);
  },
);
