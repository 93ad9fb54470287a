/** Values of one kind, of which nothing more is said. */
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

/** A list whose places have types of their own; `rest` is for those behind them. */
export interface TupleType {
  kind: 'tuple';
  items: StubType[];
  /** How many of the items have to be there. */
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

/** An object; `others` is for keys that are not named. */
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

/** What a JSON schema says, as far as a declaration can say it, in no language. */
export type StubType = PlainType | LiteralType | ArrayType | TupleType | ObjectType | CompoundType | ReferenceType;

/** A type that others refer to. */
export interface StubDefinition {
  /** What it may be called. */
  name: string;
  type: StubType;
  notes: string[];
}

/** One schema, read. */
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
