import { isList, isObject } from './kinds-of-values.ts';

/**
 * A schema at its place in a document. Parts are made on demand, because a document may be hostile: large, deep, or a part of
 * itself. Only own members count as keywords. Each reader decides about limits, and about values that are no schemas.
 */
export interface SchemaPart {
  /** A schema, or any other value in the place of one. */
  readonly value: unknown;
  /** Keywords with their values; empty for `true`, `false` and values that are no schemas. */
  readonly keywords: Readonly<Record<string, unknown>>;
  /** The JSON pointer (RFC 6901) from the document. */
  readonly pointer: string;
  /** Number of schemas around it, up to the document or to the target of a reference. */
  readonly level: number;
}

/** Keyword for a text whose value travels as bytes: the value holds the bytes in its place. */
export const BYTES_KEYWORD = 'x-skillcell-bytes';

/** Names of types. */
export const TYPE_NAMES: readonly string[] = ['array', 'boolean', 'integer', 'null', 'number', 'object', 'string'];

const NO_KEYWORDS: SchemaPart['keywords'] = Object.freeze({});

/** The part that is a whole document. */
export function wholeSchema(document: unknown): SchemaPart {
  return partOf(document, '', 0);
}

/** The part at a pointer, as the target of a reference; undefined if there is no value. */
export function partAtPointer(whole: SchemaPart, pointer: string): SchemaPart | undefined {
  if (/~(?![01])/.test(pointer)) return undefined;
  let { value } = whole;
  for (const key of keysOf(pointer)) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
    value = (value as Record<string, unknown>)[key];
  }
  return partOf(value, pointer, 0);
}

/** The keys of a pointer. */
export function keysOf(pointer: string): string[] {
  const keys = pointer.split('/').slice(1);
  return keys.map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'));
}

/** The value of a keyword; undefined if the schema has no own member of this name. */
export function keyword({ keywords }: SchemaPart, name: string): unknown {
  return Object.hasOwn(keywords, name) ? keywords[name] : undefined;
}

/** The part of a keyword with one schema; undefined without the keyword. */
export function partAt(part: SchemaPart, name: string): SchemaPart | undefined {
  const value = keyword(part, name);
  return value === undefined ? undefined : partOf(value, `${part.pointer}/${name}`, part.level + 1);
}

/** The first parts of a keyword with a list of schemas; empty for any other value. */
export function partsInList(part: SchemaPart, name: string, most: number = Infinity): SchemaPart[] {
  const values = keyword(part, name);
  if (!isList(values)) return [];
  return values.slice(0, most).map((value, index) => partOf(value, `${part.pointer}/${name}/${index}`, part.level + 1));
}

/** The parts of a keyword with named schemas; empty for any other value. */
export function partsByName(part: SchemaPart, name: string): [string, SchemaPart][] {
  const values = keyword(part, name);
  if (!isObject(values)) return [];
  const around = `${part.pointer}/${name}/`;
  return Object.keys(values).map((key) => [key, partOf(values[key], around + escaped(key), part.level + 1)]);
}

function partOf(value: unknown, pointer: string, level: number): SchemaPart {
  return { value, keywords: isObject(value) ? value : NO_KEYWORDS, pointer, level };
}

function escaped(key: string): string {
  return /[~/]/.test(key) ? key.replaceAll('~', '~0').replaceAll('/', '~1') : key;
}
