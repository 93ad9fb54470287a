/** Values of one kind, without further rules. */
export interface PlainType {
  kind: 'unknown' | 'never' | 'string' | 'number' | 'integer' | 'boolean' | 'null' | 'bytes';
}

/** One value. */
export interface LiteralType {
  kind: 'literal';
  value: string | number | boolean | null;
}

/** A list of any length. */
export interface ArrayType {
  kind: 'array';
  items: StubType;
}

/** A list with a type for each of its first items; `rest` is the type of all further items. */
export interface TupleType {
  kind: 'tuple';
  items: StubType[];
  /** Number of items that are required. */
  required: number;
  rest: StubType | undefined;
}

/** One key of an object. */
export interface StubField {
  name: string;
  type: StubType;
  required: boolean;
  /** Lines of its comment. */
  notes: string[];
}

/** An object; `others` is the type of all keys that are not named. */
export interface ObjectType {
  kind: 'object';
  fields: StubField[];
  others: StubType | undefined;
}

/** One of several types, or all of them at once. */
export interface CompoundType {
  kind: 'union' | 'intersection';
  members: StubType[];
}

/** A definition by its key. */
export interface ReferenceType {
  kind: 'reference';
  to: string;
}

/** A type from a JSON schema, as far as a declaration can express it, independent of a language. */
export type StubType = PlainType | LiteralType | ArrayType | TupleType | ObjectType | CompoundType | ReferenceType;

/** A type that others refer to. */
export interface StubDefinition {
  /** Proposed name. */
  name: string;
  type: StubType;
  notes: string[];
}

/** The type of one schema. */
export interface StubSchema {
  type: StubType;
  notes: string[];
  /** By key, in order of first mention. */
  definitions: Map<string, StubDefinition>;
}

/** Any value. */
export const UNKNOWN: PlainType = { kind: 'unknown' };

/** No value. */
export const NEVER: PlainType = { kind: 'never' };
