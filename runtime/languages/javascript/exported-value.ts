import { Buffer } from 'node:buffer';
import { types } from 'node:util';
import { LIMIT_CEILINGS } from '../../../src/contracts/jobs/limits.ts';
import type { ToldProgramValue } from './bridge-registry.ts';

const { stringify } = JSON;
/** The supervisor refuses deeper values. */
const MOST_LEVELS = 64;

/** A value that has no JSON form. */
class NoJson extends Error {}

/**
 * The JSON form of an exported value. A module also exports things for other modules that are not meant as a value. So functions are left
 * out, getters do not run, and an error that the value throws does not end the program.
 */
export function jsonOfExport(value: unknown): ToldProgramValue | undefined {
  if (typeof value === 'function') return undefined;
  try {
    const json = stringify(plain(value, 0)) as string | undefined;
    if (json === undefined) return { invalid: 'it has no JSON form' };
    const bytes = Buffer.byteLength(json);
    return { json: bytes > LIMIT_CEILINGS.valueBytes ? bytes : json };
  } catch (error) {
    return { invalid: error instanceof NoJson ? error.message : 'its toJSON throws, or it cannot be looked at' };
  }
}

/** A copy of a value with only the data that JSON can hold. */
function plain(value: unknown, level: number): unknown {
  if (typeof value === 'bigint') throw new NoJson('JSON has no BigInt');
  if (typeof value !== 'object' || value === null) return value;
  if (level > MOST_LEVELS) throw new NoJson('it is nested too deep, or in itself');
  if (types.isProxy(value)) throw new NoJson('it holds a proxy');
  if (types.isBoxedPrimitive(value)) return value.valueOf();
  const converted = ownForm(value);
  if (converted !== value) return plain(converted, level + 1);
  if (Array.isArray(value)) return Array.from({ length: value.length }, (_, index) => dataAt(value, `${index}`, level));
  const copy: Record<string, unknown> = Object.create(null) as Record<string, unknown>;
  for (const key of Object.keys(value)) copy[key] = dataAt(value, key, level);
  return copy;
}

function dataAt(holder: object, key: string, level: number): unknown {
  const described = Object.getOwnPropertyDescriptor(holder, key);
  if (described?.get !== undefined) throw new NoJson(`a getter stands at ${stringify(key).slice(0, 100)}`);
  return plain(described?.value, level + 1);
}

/** The result of an object's `toJSON`, such as a date's, or the object itself. */
function ownForm(value: object): unknown {
  for (let holder: object | null = value; holder !== null; holder = Object.getPrototypeOf(holder) as object | null) {
    const described = Object.getOwnPropertyDescriptor(holder, 'toJSON');
    if (described === undefined) continue;
    if (described.get !== undefined) throw new NoJson('its toJSON is a getter');
    return typeof described.value === 'function' ? Reflect.apply(described.value as () => unknown, value, []) : value;
  }
  return value;
}
