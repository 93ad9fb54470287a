import { isFilledList, isObject } from '../../document/kinds-of-values.ts';
import { keyword, partAt, partsByName, partsInList, type SchemaPart } from '../../document/schema-part.ts';
import { SchemaRefused } from '../../schema-refused.ts';
import type { Check, SchemaNode } from '../node.ts';
import type { Pattern } from '../patterns/pattern.ts';

/** A schema whose keywords are compiled. */
export interface SchemaReading {
  readonly part: SchemaPart;
  /** Compiles a schema in it that judges a part of the value. */
  below(part: SchemaPart): SchemaNode;
  /** Compiles a schema in it that judges the same value. */
  inPlace(part: SchemaPart): SchemaNode;
  /** The schema of a `$ref`, known once all schemas are compiled. */
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
  { part }: SchemaReading,
  name: string,
  isKind: (value: unknown) => value is T,
  kind: string,
): T | undefined {
  const value = keyword(part, name);
  if (value === undefined || isKind(value)) return value;
  throw new SchemaRefused(`the keyword "${name}" with another value than ${kind}`);
}

/** Compiles an optional keyword with a schema that judges a part of the value. */
export function optionalBelow({ part, below }: SchemaReading, name: string): SchemaNode | undefined {
  const found = partAt(part, name);
  return found && below(found);
}

/** The parts of an optional keyword with a list of schemas. */
export function optionalList(reading: SchemaReading, name: string): SchemaPart[] | undefined {
  return optional(reading, name, isFilledList, 'a list of schemas') && partsInList(reading.part, name);
}

/** The parts of a keyword with named schemas; none without the keyword. */
export function optionalNamed(reading: SchemaReading, name: string): [string, SchemaPart][] {
  optional(reading, name, isObject, 'an object of schemas');
  return partsByName(reading.part, name);
}
