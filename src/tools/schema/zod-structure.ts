import * as z from 'zod/mini';
import { faultLine } from './fault-line.ts';
import { AUTHOR_CAPS, copySchema } from './json-schema/copy-schema.ts';
import { evaluate } from './json-schema/node.ts';
import { compileSchema } from './json-schema/compile-schema.ts';
import { spentSteps, startRun, TOO_MUCH_WORK, TooMuchWork } from './json-schema/run.ts';

/** Cheaper values are left to zod, whose faults have the author's own words. */
const FEW_STEPS = 5_000;

/** Kinds of zod schemas that accept no more than their JSON schema. */
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
/** Keywords that are no stricter than zod. */
const SCALARS = ['type', 'enum', 'const', 'minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'maxLength'];
const OTHERS = [...SCALARS, 'minItems', 'maxItems', '$ref', 'required'];
const SCHEMAS = ['items', 'additionalProperties'];
const LISTS = ['anyOf', 'prefixItems'];
const NAMED = ['properties', '$defs'];

/**
 * Keeps values that fit badly from a zod schema. zod collects each fault of each alternative: for a list of texts and objects,
 * 256 KiB of numbers take it 0.3 s and 260 MiB.
 *
 * @returns a function that returns the faults of a large value which zod would refuse too
 */
export function structureGuard(schema: z.core.$ZodType): (value: unknown) => string | undefined {
  const node = compileSchema(copySchema(loosened(structureOf(schema)), AUTHOR_CAPS), AUTHOR_CAPS);
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

/** zod's JSON schema, without the parts for schemas that accept more than that, such as those that convert values first. */
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

/** Removes keywords from a JSON schema that zod may apply differently. Of the remaining alternatives, more than one may fit. */
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

/** A property without any remaining schema may have a default of zod, so it is not required. */
function withRequired(schema: Record<string, unknown>): Record<string, unknown> {
  const properties = (schema['properties'] ?? {}) as Record<string, object>;
  const required = ((schema['required'] ?? []) as string[]).filter((name) => 'type' in (properties[name] ?? {}));
  return { ...schema, required };
}
