import { getPrototypeOf, hasOwn, is, isArray, isFinite, keys, OBJECT, stringify } from '../captured.ts';

const DEEPEST = 60;

/**
 * The JSON of a value where it says all of it, and nothing where JSON would make something else of it: of a hole, of `undefined`, of -0, of
 * a date. It is written here, and not by `JSON.stringify`, which asks every object for a `toJSON` that is perhaps not its own.
 */
export function exactJson(value: unknown): string | undefined {
  try {
    return write(value, 0);
  } catch {
    // A getter that throws: there is no JSON of it.
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
  // A field beside the items is none of JSON's.
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
    // Who reads JSON refuses this name, or takes it for the prototype.
    const field = name === '__proto__' ? undefined : write(fields[name], depth + 1);
    if (field === undefined) return undefined;
    json += `${index === 0 ? '' : ','}${stringify(name)}:${field}`;
  }
  return `${json}}`;
}
