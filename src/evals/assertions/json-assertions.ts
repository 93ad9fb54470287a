import { quotedText } from '../../contracts/text/quoted-text.ts';
import type { CompiledSchema } from '../../tools/schema/tool-schema.ts';
import { JsonRefused, parseBoundedJson } from '../../protocol/channel/bounded-json.ts';
import type { AssertionCheck, RunProduct } from './assertion.ts';
import type { AssertionOf } from './assertion-schema.ts';
import { readText } from './text-assertions.ts';

/** The value at a place of a JSON value, or the reason why the place is empty. */
type PlacedValue = { value: unknown } | { fault: string };

const JSON_BYTES = 8 * 1024 * 1024;

/** Whether an artifact of JSON has a value at a place. */
export function jsonFileEquals(spec: AssertionOf<'json-equals'>): AssertionCheck {
  return (product) => equals(fileValue(product, spec.path, spec.at), spec.value, spec.tolerance);
}

/** The same for the value of the program. */
export function valueEquals(spec: AssertionOf<'value-equals'>): AssertionCheck {
  return (product) => equals(handedBack(product, spec.at), spec.value, spec.tolerance);
}

/** Whether a number in the value of the program lies within bounds. */
export function valueInRange({ at, min = -Infinity, max = Infinity }: AssertionOf<'value-in-range'>): AssertionCheck {
  return (product) => {
    const found = handedBack(product, at);
    if ('fault' in found) return found.fault;
    if (typeof found.value !== 'number') return `it is no number, got ${shownJson(found.value)}`;
    return found.value >= min && found.value <= max ? undefined : `it is outside ${min} to ${max}, got ${found.value}`;
  };
}

/** Whether the value of the program fits a schema. */
export function valueFits(at: string | undefined, schema: CompiledSchema): AssertionCheck {
  return async (product) => {
    const found = handedBack(product, at);
    if ('fault' in found) return found.fault;
    const checked = await schema.check(found.value);
    return 'fault' in checked ? checked.fault : undefined;
  };
}

function handedBack({ result }: RunProduct, at: string | undefined): PlacedValue {
  return result.value === undefined ? { fault: 'the program handed back no value' } : jsonAt(result.value, at);
}

function fileValue(product: RunProduct, path: string, at: string | undefined): PlacedValue {
  const read = readText(product, path);
  if ('fault' in read) return read;
  try {
    return jsonAt(parseBoundedJson(Buffer.from(read.text), { maxBytes: JSON_BYTES }), at);
  } catch (error) {
    if (!(error instanceof JsonRefused)) throw error;
    return { fault: `${quotedText(path)} holds no JSON: ${error.message}` };
  }
}

function equals(found: PlacedValue, expected: unknown, tolerance: number | undefined): string | undefined {
  if ('fault' in found) return found.fault;
  if (jsonEquals(found.value, expected, tolerance)) return undefined;
  return `it is ${shownJson(found.value)} and not ${shownJson(expected)}`;
}

/**
 * Follows a JSON pointer (RFC 6901).
 *
 * @param pointer a valid pointer; without it the whole value
 */
function jsonAt(whole: unknown, pointer = ''): PlacedValue {
  let value = whole;
  for (const token of pointer.split('/').slice(1)) {
    const key = token.replaceAll('~1', '/').replaceAll('~0', '~');
    const isThere = typeof value === 'object' && value !== null && Object.hasOwn(value, key);
    if (!isThere || (Array.isArray(value) && !/^\d+$/.test(key)))
      return { fault: `it has nothing at ${quotedText(pointer)}` };
    value = (value as Record<string, unknown>)[key];
  }
  return { value };
}

/** Whether two JSON values are equal. The order of keys does not matter; numbers may differ by the tolerance. */
function jsonEquals(one: unknown, other: unknown, tolerance = 0): boolean {
  if (typeof one === 'number' && typeof other === 'number') return Math.abs(one - other) <= tolerance;
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null) return one === other;
  if (Array.isArray(one) !== Array.isArray(other)) return false;
  const keys = Object.keys(one);
  if (keys.length !== Object.keys(other).length) return false;
  return keys.every(
    (key) =>
      Object.hasOwn(other, key) &&
      jsonEquals((one as Record<string, unknown>)[key], (other as Record<string, unknown>)[key], tolerance),
  );
}

/** The beginning of a JSON value, for a reason. */
function shownJson(value: unknown): string {
  return value === undefined ? 'nothing' : quotedText(JSON.stringify(value)).slice(1, -1).replaceAll('\\"', '"');
}
