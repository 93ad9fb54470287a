import { getPrototypeOf, hasOwn, is, isArray, isFinite, keys, OBJECT, stringify } from '../captured.ts';

const DEEPEST = 60;

/**
 * The JSON of a value that JSON represents exactly, and undefined for any other value: one with holes, `undefined`, -0 or dates. `JSON.stringify` is
 * not used, because it calls a `toJSON` that every object may inherit.
 */
export function exactJson(value: unknown): string | undefined {
  try {
    return write(value, 0);
  } catch {
    // A getter throws: the value has no JSON.
    return undefined;
  }
}

function write(value: unknown, depth: number): string | undefined {
  if (typeof value === 'string') return stringify(value);
  if (typeof value === 'number') return isFinite(value) && !is(value, -0) ? `${value}` : undefined;
  if (value === null || typeof value === 'boolean') return `${value}`;
  if (typeof value !== 'object' || depth > DEEPEST) return undefined;
  return isArray(value) ? writeArray(value, depth) : writeObject(value as Record<string, unknown>, depth);
}

function writeArray(items: unknown[], depth: number): string | undefined {
  // JSON has no fields beside the items.
  if (keys(items).length !== items.length) return undefined;
  let json = '[';
  for (let index = 0; index < items.length; index += 1) {
    const item = hasOwn(items, index) ? write(items[index], depth + 1) : undefined;
    if (item === undefined) return undefined;
    json += index === 0 ? item : `,${item}`;
  }
  return `${json}]`;
}

function writeObject(fields: Record<string, unknown>, depth: number): string | undefined {
  const prototype: unknown = getPrototypeOf(fields);
  if (prototype !== null && prototype !== OBJECT) return undefined;
  const names = keys(fields);
  let json = '{';
  for (let index = 0; index < names.length; index += 1) {
    const name = names[index] as string;
    // JSON readers refuse this name or read it as the prototype.
    const field = name === '__proto__' ? undefined : write(fields[name], depth + 1);
    if (field === undefined) return undefined;
    json += `${index === 0 ? '' : ','}${stringify(name)}:${field}`;
  }
  return `${json}}`;
}
