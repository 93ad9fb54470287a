/**
 * Loads ahead of a job what takes the code of skills longest: zod, and what strips types. It leaves nothing that a program which is no
 * such code could see.
 */
interface Zod {
  object(shape: object): { safeParseAsync(value: unknown): Promise<unknown> };
  string(): unknown;
  toJSONSchema(schema: unknown, options: object): unknown;
}

const load = (name: string): Promise<unknown> => import(new URL(name, import.meta.url).href);

const [zod] = (await Promise.all([load('packages/zod.mjs'), load('sample.mts')])) as [Zod, unknown];
const schema = zod.object({ text: zod.string() });
zod.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });
await schema.safeParseAsync({ text: '' });
