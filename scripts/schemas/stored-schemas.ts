import * as z from 'zod/mini';
import { fullDescriptorSchema, seedDescriptorSchema } from '../../src/contracts/skills/descriptor-schema.ts';
import { lockSchema } from '../../src/library/lock/format/lock-format.ts';
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

/** A refinement has no form in JSON Schema; it is left to the reader. */
function jsonSchema(schema: z.core.$ZodType): JsonSchema {
  const { $schema: _draft, ...rest } = z.toJSONSchema(schema, { io: 'input', reused: 'inline' });
  return rest;
}
