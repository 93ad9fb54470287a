import * as z from 'zod/mini';
import { isZodSchema } from './schema-source.ts';

/** What is wrong with a part of an option. */
export interface OptionFault {
  /** Keys from the option to the part. */
  path: PropertyKey[];
  /** What it must be. */
  message: string;
}

const TYPES = ['array', 'boolean', 'integer', 'null', 'number', 'object', 'string'];
/** Keywords with a schema, with a list of them, and with one by each name. */
const ONE = ['items', 'additionalProperties', 'propertyNames', 'contains', 'not'];
const LISTS = ['anyOf', 'oneOf', 'allOf', 'prefixItems', 'items'];
const NAMED = ['properties', 'patternProperties', '$defs', 'definitions'];

/**
 * Finds what would fail at each call of a tool, as far as it shows without the reader of JSON schemas, which loads with the
 * first call only.
 *
 * @param parameters anything
 * @returns undefined where the parameters can be described and enforced
 */
export function parametersFault(parameters: unknown): OptionFault | undefined {
  if (parameters === undefined) return undefined;
  if (typeof parameters === 'object' && parameters !== null && isZodSchema(parameters)) return zodFault(parameters);
  if (!isPlainObject(parameters)) return { path: [], message: 'must be a zod schema or an object with a JSON schema' };
  return jsonFault(parameters, new Set());
}

/** A schema that no JSON schema can say would end each job that is told of the tool. */
function zodFault(schema: z.core.$ZodType): OptionFault | undefined {
  try {
    z.toJSONSchema(schema, { io: 'input' });
    return undefined;
  } catch (error) {
    const { message } = error as Error;
    return { path: [], message: `must be a zod schema that can be written as a JSON schema (${message})` };
  }
}

function jsonFault(schema: unknown, seen: Set<unknown>): OptionFault | undefined {
  if (typeof schema === 'boolean' || seen.has(schema)) return undefined;
  if (!isPlainObject(schema)) return { path: [], message: 'must be a JSON schema' };
  seen.add(schema);
  const { type } = schema;
  const types: unknown[] = Array.isArray(type) ? type : [type];
  if (type !== undefined && !types.every((name) => TYPES.includes(name as string)))
    return { path: ['type'], message: `must be one of ${TYPES.join(', ')}, or a list of them` };
  for (const [path, part] of partsOf(schema)) {
    const fault = jsonFault(part, seen);
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

/** An instance of a class is some other library's schema, of which nothing would be enforced. */
function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}
