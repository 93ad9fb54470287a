import * as z from 'zod/mini';
import { partsWithin } from '../schema/document/parts-within.ts';
import { keysOf, TYPE_NAMES, wholeSchema, type SchemaPart } from '../schema/document/schema-part.ts';
import { isStandardSchema, isZodSchema, SDK_SCHEMA } from '../schema/schema-source.ts';
import { isPlainObject } from '../schema/is-plain-object.ts';

/** A fault in a part of an option. */
export interface OptionFault {
  /** Keys from the option to the part. */
  path: PropertyKey[];
  /** Requirement that the part must meet. */
  message: string;
}

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
  return jsonFault(parameters);
}

/** Refuses zod schemas without a JSON schema: each job that offers such a tool would fail. */
function zodFault(schema: z.core.$ZodType): OptionFault | undefined {
  try {
    z.toJSONSchema(schema, { io: 'input' });
    return undefined;
  } catch (error) {
    const { message } = error as Error;
    return { path: [], message: `must be a zod schema that can be written as a JSON schema (${message})` };
  }
}

function jsonFault(schema: unknown): OptionFault | undefined {
  for (const part of partsWithin(wholeSchema(schema))) {
    const fault = partFault(part);
    if (fault !== undefined) return { ...fault, path: [...keysOf(part.pointer), ...fault.path] };
  }
  return undefined;
}

function partFault({ value }: SchemaPart): OptionFault | undefined {
  if (typeof value === 'boolean') return undefined;
  if (!isPlainObject(value)) return { path: [], message: 'must be a JSON schema' };
  const { type } = value;
  const types: unknown[] = Array.isArray(type) ? type : [type];
  if (type === undefined || types.every((name) => TYPE_NAMES.includes(name as string))) return undefined;
  return { path: ['type'], message: `must be one of ${TYPE_NAMES.join(', ')}, or a list of them` };
}

/** Schemas of other libraries and of the AI SDK, and functions that return one. */
function isSelfEnforced(parameters: unknown): boolean {
  if (typeof parameters === 'function') return true;
  return (
    typeof parameters === 'object' && parameters !== null && (isStandardSchema(parameters) || SDK_SCHEMA in parameters)
  );
}
