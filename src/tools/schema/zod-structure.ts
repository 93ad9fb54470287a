import * as z from 'zod/mini';
import { faultLine } from './fault-line.ts';
import { AUTHOR_CAPS, copySchema } from './json-schema/copy-schema.ts';
import { evaluate } from './json-schema/node.ts';
import { readSchema } from './json-schema/read-schema.ts';
import { spentSteps, startRun, TOO_MUCH_WORK, TooMuchWork } from './json-schema/run.ts';

/** Values that cost less are left to zod, whose faults have the author's own words. */
const FEW_STEPS = 5_000;

/** Kinds of zod schemas that take no more than their JSON schema says. */
const KINDS = [
  'string',
  'number',
  'boolean',
  'null',
  'array',
  'object',
  'record',
  'tuple',
  'union',
  'enum',
  'literal',
  'nullable',
  'optional',
  'default',
  'prefault',
  'readonly',
  'lazy',
  'never',
];
/** Keywords that ask no more than zod does. */
const SCALARS = ['type', 'enum', 'const', 'minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'maxLength'];
const OTHERS = [...SCALARS, 'minItems', 'maxItems', '$ref', 'required'];
const SCHEMAS = ['items', 'additionalProperties'];
const LISTS = ['anyOf', 'prefixItems'];
const NAMED = ['properties', '$defs'];

/**
 * Keeps values from a zod schema that are far from it. zod notes each fault of each alternative: 256 KiB of numbers for a list of texts and
 * objects take it 0.3 s and 260 MiB.
 *
 * @returns gives the faults of a large value that zod would not take either
 */
export function structureGuard(schema: z.core.$ZodType): (value: unknown) => string | undefined {
  const node = readSchema(copySchema(loosened(structureOf(schema)), AUTHOR_CAPS), AUTHOR_CAPS);
  return (value) => {
    const run = startRun();
    try {
      const fits = evaluate(node, value, run, undefined);
      return fits || spentSteps(run) < FEW_STEPS ? undefined : faultLine(run.faults);
    } catch (error) {
      if (!(error instanceof TooMuchWork)) throw error;
      return TOO_MUCH_WORK;
    }
  };
}

/** What zod writes, without what it writes of a schema that takes more than that: one that turns values into others before it looks. */
function structureOf(schema: z.core.$ZodType): Record<string, unknown> {
  return z.toJSONSchema(schema, {
    io: 'input',
    unrepresentable: 'any',
    metadata: z.registry(),
    override({ zodSchema, jsonSchema }) {
      const { def, toJSONSchema } = zodSchema._zod;
      const changesFirst = def.checks?.some((check) => check._zod.def.check === 'overwrite') ?? false;
      const isCoerced = 'coerce' in def && def.coerce;
      if (KINDS.includes(def.type) && !changesFirst && !isCoerced && toJSONSchema === undefined) return;
      for (const name of Object.keys(jsonSchema)) delete jsonSchema[name];
    },
  });
}

/** Leaves out of a JSON schema what zod may see in another way. Of alternatives that are left more than one may fit. */
function loosened(schema: unknown): unknown {
  if (typeof schema !== 'object' || schema === null) return schema;
  const { oneOf, ...given } = schema as Record<string, unknown>;
  const source = oneOf === undefined ? given : { ...given, anyOf: oneOf };
  const parts = Object.entries(source).flatMap(([name, part]): [string, unknown][] => {
    if (OTHERS.includes(name)) return [[name, part]];
    if (SCHEMAS.includes(name)) return [[name, loosened(part)]];
    if (LISTS.includes(name)) return [[name, (part as unknown[]).map(loosened)]];
    if (NAMED.includes(name))
      return [[name, Object.fromEntries(Object.entries(part as object).map(([key, value]) => [key, loosened(value)]))]];
    return [];
  });
  return withRequired(Object.fromEntries(parts));
}

/** A property of whose schema nothing is left may be one that zod fills in. */
function withRequired(schema: Record<string, unknown>): Record<string, unknown> {
  const properties = (schema['properties'] ?? {}) as Record<string, object>;
  const required = ((schema['required'] ?? []) as string[]).filter((name) => 'type' in (properties[name] ?? {}));
  return { ...schema, required };
}
