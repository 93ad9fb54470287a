import { isPlainObject } from '../is-plain-object.ts';
import { SchemaRefused } from '../schema-refused.ts';

/** How large a schema may be. */
export interface SchemaCaps {
  /** Of the schema as JSON. */
  bytes: number;
  /** Arrays and objects in each other. */
  nesting: number;
  /** Schemas in each other. */
  depth: number;
  /** Schemas in all. */
  schemas: number;
}

/** Of a schema that somebody else wrote. */
export const OUTSIDE_CAPS: SchemaCaps = { bytes: 65_536, nesting: 80, depth: 32, schemas: 1_000 };
/** Of the author's own. */
export const AUTHOR_CAPS: SchemaCaps = { bytes: 4_194_304, nesting: 200, depth: 64, schemas: 50_000 };

/** What is left of a cap, and where in the schema the copy is. */
interface CopyState {
  caps: SchemaCaps;
  bytes: number;
  path: string[];
}

/**
 * Copies a JSON schema as the data that it is, so that nothing changes it later and no getter of it answers twice.
 *
 * @throws {SchemaRefused} when it is no plain JSON, or over its caps
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
  // An option that is left out is often written so.
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
