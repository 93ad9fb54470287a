import { SchemaRefused } from '../../schema-refused.ts';
import type { Check, SchemaNode } from '../node.ts';
import type { Pattern } from '../patterns/pattern.ts';

/** Parts of its schema that a keyword may read. */
export interface SchemaReading {
  /** The keywords of the schema. */
  readonly schema: Readonly<Record<string, unknown>>;
  /** The schema below these keys; it judges a part of the value. */
  below(...keys: string[]): SchemaNode;
  /** The schema below these keys; it judges the same value. */
  inPlace(...keys: string[]): SchemaNode;
  /** The schema of a `$ref`, known once all schemas are read. */
  referred(reference: string): Referred;
  pattern(source: string): Pattern;
}

/** The target of a reference. */
export interface Referred {
  node: SchemaNode;
}

/** One keyword, or several that only work together. */
export interface Keyword {
  names: readonly string[];
  /** @returns undefined if values are not restricted */
  read(reading: SchemaReading): Check | undefined;
}

/** Reads an optional keyword, and refuses a value of another kind. */
export function optional<T>(
  reading: SchemaReading,
  name: string,
  isKind: (value: unknown) => value is T,
  kind: string,
): T | undefined {
  const value = Object.hasOwn(reading.schema, name) ? reading.schema[name] : undefined;
  if (value === undefined || isKind(value)) return value;
  throw new SchemaRefused(`the keyword "${name}" with another value than ${kind}`);
}

export function isNumber(value: unknown): value is number {
  return typeof value === 'number';
}

export function isText(value: unknown): value is string {
  return typeof value === 'string';
}

export function isCount(value: unknown): value is number {
  return Number.isInteger(value) && (value as number) >= 0;
}

export function isList(value: unknown): value is readonly unknown[] {
  return Array.isArray(value);
}

export function isTextList(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every(isText);
}

/** Whether a value is an object of JSON. Bytes and arrays are not. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !isBytes(value);
}

/** Whether a value is bytes, which values may hold beside JSON. */
export function isBytes(value: unknown): value is Uint8Array {
  return value instanceof Uint8Array;
}
