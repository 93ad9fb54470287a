import * as z from 'zod/mini';
import { isStandardSchema, isZodSchema, SDK_SCHEMA } from '../schema/schema-source.ts';
import { isPlainObject } from '../schema/is-plain-object.ts';

/** A fault in a part of an option. */
export interface OptionFault {
  /** Keys from the option to the part. */
  path: PropertyKey[];
  /** Requirement that the part must meet. */
  message: string;
}

const TYPES = ['array', 'boolean', 'integer', 'null', 'number', 'object', 'string'];
/** Keywords with one schema, with a list of schemas, and with named schemas. */
const ONE = ['items', 'additionalProperties', 'propertyNames', 'contains', 'not'];
const LISTS = ['anyOf', 'oneOf', 'allOf', 'prefixItems', 'items'];
const NAMED = ['properties', 'patternProperties', '$defs', 'definitions'];
/** Deeper than any offered schema, and far from a stack overflow. */
const MAX_DEPTH = 100;

/**
 * Finds obvious faults of a tool's schema. Whether the whole schema can be enforced shows later, when the tool is offered to a job.
 *
 * @param parameters anything
 * @returns the fault; undefined if there is no obvious one
 */
export function parametersFault(parameters: unknown): OptionFault | undefined {
  if (parameters === undefined) return undefined;
  if (typeof parameters === 'object' && parameters !== null && isZodSchema(parameters)) return zodFault(parameters);
  if (isSelfEnforced(parameters)) return undefined;
  if (!isPlainObject(parameters)) return { path: [], message: 'must be a zod schema or an object with a JSON schema' };
  return jsonFault(parameters, new Set(), 0);
}

/** Refuses zod schemas without a JSON schema: they would end every job that is told of the tool. */
function zodFault(schema: z.core.$ZodType): OptionFault | undefined {
  try {
    z.toJSONSchema(schema, { io: 'input' });
    return undefined;
  } catch (error) {
    const { message } = error as Error;
    return { path: [], message: `must be a zod schema that can be written as a JSON schema (${message})` };
  }
}

function jsonFault(schema: unknown, seen: Set<unknown>, depth: number): OptionFault | undefined {
  if (typeof schema === 'boolean' || seen.has(schema) || depth > MAX_DEPTH) return undefined;
  if (!isPlainObject(schema)) return { path: [], message: 'must be a JSON schema' };
  seen.add(schema);
  const { type } = schema;
  const types: unknown[] = Array.isArray(type) ? type : [type];
  if (type !== undefined && !types.every((name) => TYPES.includes(name as string)))
    return { path: ['type'], message: `must be one of ${TYPES.join(', ')}, or a list of them` };
  for (const [path, part] of partsOf(schema)) {
    const fault = jsonFault(part, seen, depth + 1);
    if (fault !== undefined) return { ...fault, path: [...path, ...fault.path] };
  }
  return undefined;
}

function partsOf(schema: Record<string, unknown>): [PropertyKey[], unknown][] {
  const one = ONE.filter((name) => schema[name] !== undefined && !Array.isArray(schema[name]));
  const several = [...LISTS.filter((name) => Array.isArray(schema[name])), ...NAMED];
  return [
    ...one.map((name): [PropertyKey[], unknown] => [[name], schema[name]]),
    ...several.flatMap((name) =>
      Object.entries(schema[name] ?? {}).map(([key, part]): [PropertyKey[], unknown] => [[name, key], part]),
    ),
  ];
}

/** Schemas of other libraries and of the AI SDK, and functions that return one. */
function isSelfEnforced(parameters: unknown): boolean {
  if (typeof parameters === 'function') return true;
  return (
    typeof parameters === 'object' && parameters !== null && (isStandardSchema(parameters) || SDK_SCHEMA in parameters)
  );
}
