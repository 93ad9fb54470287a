import type * as z from 'zod/mini';

/** The parts of a zod definition that the schemas of this project use. */
interface Definition {
  type: string;
  shape?: Record<string, z.core.$ZodType>;
  innerType?: z.core.$ZodType;
  element?: z.core.$ZodType;
  valueType?: z.core.$ZodType;
  options?: readonly z.core.$ZodType[];
  discriminator?: string;
  entries?: Record<string, string>;
  values?: readonly unknown[];
  checks?: readonly z.core.$ZodCheck[];
}

/** The definition of a schema without its `optional`, `nullable` and `readonly` wrappers. */
export function definitionOf(schema: z.core.$ZodType): Definition {
  return requiredPart(schema)._zod.def;
}

function requiredPart(schema: z.core.$ZodType): z.core.$ZodType {
  const { type, innerType } = schema._zod.def as unknown as Definition;
  const wraps = type === 'optional' || type === 'nullable' || type === 'readonly';
  return wraps && innerType !== undefined ? requiredPart(innerType) : schema;
}

/**
 * The schema of a field.
 *
 * @param schema schema of the whole value
 * @param path keys and indexes from the whole to the field
 * @param given the whole validated value, which selects the alternative of a union
 * @returns undefined if the schema has no such field
 */
export function schemaPart(
  schema: z.core.$ZodType,
  path: readonly PropertyKey[],
  given: unknown,
): z.core.$ZodType | undefined {
  const [key, ...rest] = path;
  const part = requiredPart(schema);
  const { type, shape, element, valueType, options, discriminator } = definitionOf(part);
  if (key === undefined) return part;
  if (options !== undefined) {
    const meant = options.find((option) => isMeant(option, discriminator, key, given));
    return meant === undefined ? undefined : schemaPart(meant, path, given);
  }
  const next = type === 'object' ? shape?.[String(key)] : (element ?? valueType);
  return next === undefined ? undefined : schemaPart(next, rest, valueAt(given, [key]));
}

/** The alternative of a union that the value's discriminator names. Any other schema is returned as it is. */
export function meantForm(schema: z.core.$ZodType, value: unknown): z.core.$ZodType | undefined {
  const { options, discriminator } = definitionOf(schema);
  if (options === undefined) return schema;
  return discriminator === undefined
    ? undefined
    : options.find((option) => isMeant(option, discriminator, discriminator, value));
}

/** Matches by discriminator, if there is one, else by the key of an object, else by the type. */
function isMeant(
  option: z.core.$ZodType,
  discriminator: string | undefined,
  key: PropertyKey,
  given: unknown,
): boolean {
  const { type, shape } = definitionOf(option);
  if (discriminator === undefined) {
    return type === 'object'
      ? shape?.[String(key)] !== undefined
      : type === (Array.isArray(given) ? 'array' : 'record');
  }
  const literal = shape?.[discriminator];
  return literal !== undefined && definitionOf(literal).values?.includes(valueAt(given, [discriminator])) === true;
}

/** The value at a path, or undefined. */
export function valueAt(given: unknown, path: readonly PropertyKey[]): unknown {
  let value = given;
  for (const key of path) value = entryAt(value, key);
  return value;
}

function entryAt(value: unknown, key: PropertyKey): unknown {
  if (value instanceof Map) return value.get(key);
  return typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined;
}
