import * as z from 'zod/mini';
import { fullDescriptorSchema, seedDescriptorSchema } from '../../src/contracts/skills/descriptor-schema.ts';
import { lockSchema } from '../../src/library/lock/format/lock-format.ts';
import type { JsonSchema, NamedSchema } from './json-schema.ts';

/** The descriptor of skills, in both forms. */
export function descriptor(): NamedSchema {
  return {
    title: 'Skills descriptor',
    description:
      'The skills and their consumers: the short form, and the full form with `schema`. Paths, ids and digests are checked when it is read.',
    schema: { anyOf: [jsonSchema(seedDescriptorSchema()), jsonSchema(fullDescriptorSchema())] },
  };
}

/** The lock file. */
export function lock(): NamedSchema {
  return {
    title: 'skillcell.lock.json',
    description:
      'The locked bytes of skills, their origins and approvals. The reader also checks ids, places, paths and digests.',
    schema: jsonSchema(lockSchema),
  };
}

/** A refinement has no form in JSON Schema; only the reader checks it. */
function jsonSchema(schema: z.core.$ZodType): JsonSchema {
  const { $schema: _draft, ...rest } = z.toJSONSchema(schema, { io: 'input', reused: 'inline' });
  return rest;
}
