import { expect, test } from 'vitest';
import { compileJsonSchema } from '../../../src/tools/schema/json-schema/json-schema.ts';
import { SchemaRefused } from '../../../src/tools/schema/schema-refused.ts';
import { cpuMs } from '../../fixtures/cpu-ms.ts';
import { HOSTILE_CASES } from './hostile-cases.ts';

test.each(Object.entries(HOSTILE_CASES))(
  '%s stay within their limits of processor time and memory',
  async (_name, make) => {
    const [schema, value] = make();
    expect(JSON.stringify(schema).length).toBeLessThan(65_536);
    expect(JSON.stringify(value).length).toBeLessThan(262_144);
    const heap = process.memoryUsage().rss;
    let verdict: unknown;
    const ms = cpuMs(() => {
      try {
        verdict = compileJsonSchema(schema, true).check(value);
      } catch (error) {
        verdict = error;
      }
    });
    const settled = verdict instanceof Error ? verdict : await verdict;
    if (settled instanceof Error) expect(settled).toBeInstanceOf(SchemaRefused);
    expect(ms).toBeLessThan(2_000);
    expect(process.memoryUsage().rss - heap).toBeLessThan(64 * 2 ** 20);
  },
);
