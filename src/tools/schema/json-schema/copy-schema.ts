import { isPlainObject } from '../is-plain-object.ts';
import { SchemaRefused } from '../schema-refused.ts';

/** Size limits of a schema. */
export interface SchemaCaps {
  /** Bytes of the schema as JSON. */
  bytes: number;
  /** Nesting of arrays and objects. */
  nesting: number;
  /** Nesting of schemas. */
  depth: number;
  /** Number of schemas. */
  schemas: number;
}

/** Limits of untrusted schemas. */
export const OUTSIDE_CAPS: SchemaCaps = { bytes: 65_536, nesting: 80, depth: 32, schemas: 1_000 };
/** Limits of the author's own schemas. */
export const AUTHOR_CAPS: SchemaCaps = { bytes: 4_194_304, nesting: 200, depth: 64, schemas: 50_000 };

/** The rest of the limit, and the place of the copy in the schema. */
interface CopyState {
  caps: SchemaCaps;
  bytes: number;
  path: string[];
}

/**
 * Copies a JSON schema as plain data, so that it cannot change later and getters are read only once.
 *
 * @throws {SchemaRefused} when it is not plain JSON, or exceeds a limit
 */
export function copySchema(schema: unknown, caps: SchemaCaps): unknown {
  return copyPart(schema, { caps, bytes: caps.bytes, path: [] });
}

function copyPart(part: unknown, state: CopyState): unknown {
  if (typeof part !== 'object' || part === null) return copyScalar(part, state);
  const { path, caps } = state;
  if (path.length >= caps.nesting)
    throw new SchemaRefused(`more than ${caps.nesting} arrays and objects in each other`);
  if (Array.isArray(part)) {
    take(state, 2 + Math.max(0, part.length - 1));
    return Object.freeze(Array.from(part, (item, index) => copyBelow(String(index), item, state)));
  }
  if (!isPlainObject(part)) throw new SchemaRefused('an object of a class, which is no JSON', [...path]);
  // Authors often write an absent option as undefined.
  const members = Object.entries(part).filter(([, value]) => value !== undefined);
  take(state, 2 + Math.max(0, 2 * members.length - 1));
  const copy: Record<string, unknown> = {};
  for (const [key, value] of members) {
    take(state, jsonBytes(key));
    // An assignment to `__proto__` would set the prototype.
    Object.defineProperty(copy, key, { value: copyBelow(key, value, state), enumerable: true });
  }
  return Object.freeze(copy);
}

function copyBelow(key: string, part: unknown, state: CopyState): unknown {
  state.path.push(key);
  const copy = copyPart(part, state);
  state.path.pop();
  return copy;
}

function copyScalar(value: unknown, state: CopyState): unknown {
  const isJson = value === null || ['string', 'boolean'].includes(typeof value) || Number.isFinite(value);
  if (!isJson) throw new SchemaRefused(`a ${typeof value} that is no JSON`, [...state.path]);
  take(state, jsonBytes(value));
  return value;
}

function jsonBytes(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value));
}

function take(state: CopyState, bytes: number): void {
  state.bytes -= bytes;
  if (state.bytes < 0) throw new SchemaRefused(`more than ${state.caps.bytes} bytes`);
}
