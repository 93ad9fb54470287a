import * as z from 'zod/mini';
import { fullDescriptorSchema, seedDescriptorSchema } from '../../src/contracts/descriptor-schema.ts';
import { lockSchema } from '../../src/library/lock/lock-format.ts';
import type { JsonSchema, NamedSchema } from './json-schema.ts';

/** The descriptor of skills, in both forms. */
export function descriptor(): NamedSchema {
  return {
    title: 'Skills descriptor',
    description:
      'Which skills there are and who has them: the short form, and the full form with `schema`. Paths, ids and digests are checked when it is read.',
    schema: { anyOf: [jsonSchema(seedDescriptorSchema()), jsonSchema(fullDescriptorSchema())] },
  };
}

/** The lock file. */
export function lock(): NamedSchema {
  return {
    title: 'skillcell.lock.json',
    description:
      'Which bytes of which skills were taken from where, and who approved them. Ids, places, paths and digests are checked when it is read.',
    schema: jsonSchema(lockSchema),
  };
}

/** A file of a locked skill, whose row the reader checks in one go. */
const LOCKED_FILE = z.strictObject({
  path: z.string(),
  digest: z.string().check(z.regex(/^sha256:[0-9a-f]{64}$/)),
  bytes: z.int().check(z.minimum(0)),
  executable: z.boolean(),
});

/** A refinement has no form in JSON Schema; it is left to the reader. */
function jsonSchema(schema: z.core.$ZodType): JsonSchema {
  const { $schema: _draft, ...rest } = z.toJSONSchema(schema, {
    io: 'input',
    reused: 'inline',
    unrepresentable: 'any',
    override({ zodSchema, jsonSchema: written }) {
      const { type } = zodSchema._zod.def;
      if (type === 'custom') Object.assign(written, jsonSchema(LOCKED_FILE));
      else if (Object.keys(written).length === 0 && type !== 'unknown' && type !== 'any')
        throw new Error(`Cannot write a JSON Schema: it has no form for ${type}.`);
    },
  });
  return rest;
}
