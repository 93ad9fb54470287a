/** Loads the slowest parts of a skill's code ahead of a job: zod, and Node's type stripper. No other program can see a trace of it. */
import { createRequire } from 'node:module';

interface Zod {
  object(shape: object): { safeParse(value: unknown): unknown };
  string(): unknown;
  toJSONSchema(schema: unknown, options: object): unknown;
}

const load = createRequire(import.meta.url);
const zod = load('./packages/zod.mjs') as Zod;
load('./sample.mts');
const schema = zod.object({ text: zod.string() });
zod.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });
schema.safeParse({ text: '' });
