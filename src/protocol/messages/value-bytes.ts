/** Place of bytes in a value: keys from the top of the value, and the number of bytes. */
export interface BytesPlace {
  path: (string | number)[];
  bytes: number;
}

/** A value split into its JSON, with `null` in place of bytes, and the bytes. */
export interface DetachedValue {
  json: unknown;
  places: BytesPlace[];
  parts: Uint8Array[];
}

/** Most nesting of a value. The message parser accepts 64 levels, and the message around the value uses some of them. */
const MAX_DEPTH = 60;
/** Most values in all, counted like the message parser. */
const MAX_VALUES = 200_000;
/** Most separate pieces of bytes in one value. */
export const MAX_PARTS = 64;

/** Limits of a value. */
export interface ValueCaps {
  /** Bytes of its JSON. */
  jsonBytes: number;
  /** Sum of the bytes in it. */
  partBytes: number;
}

/** A value that cannot be split into JSON and bytes. */
export class ValueFault extends Error {
  override readonly name = 'ValueFault';
  readonly isTooLarge: boolean;

  constructor(message: string, isTooLarge = false) {
    super(message);
    this.isTooLarge = isTooLarge;
  }
}

/**
 * Takes the bytes out of a value. `undefined` is left out like in JSON. The cost is bounded by the caps, even for a larger value.
 *
 * @throws {ValueFault} over the caps, on a cycle or another nesting over 60 levels, on over 64 pieces of bytes, and on values without
 * a JSON form: functions, symbols, bigints, numbers that are not finite, typed arrays of other elements than unsigned bytes, and objects
 * that hold more than their fields, such as a Map or an Error
 */
export function detachBytes(value: unknown, caps: ValueCaps): DetachedValue {
  const places: BytesPlace[] = [];
  const parts: Uint8Array[] = [];
  let values = 0;
  let jsonBytes = 0;
  let partBytes = 0;

  const count = (size: number, more = 1): void => {
    values += more;
    jsonBytes += size;
    if (values > MAX_VALUES) throw new ValueFault(`over ${MAX_VALUES} values`, true);
    if (jsonBytes > caps.jsonBytes) throw new ValueFault(`over ${caps.jsonBytes} bytes of JSON`, true);
    if (partBytes > caps.partBytes) throw new ValueFault(`over ${caps.partBytes} bytes`, true);
  };
  const keep = (part: Uint8Array, path: (string | number)[]): null => {
    if (parts.length === MAX_PARTS) throw new ValueFault(`over ${MAX_PARTS} pieces of bytes`, true);
    partBytes += part.length;
    count(4);
    places.push({ path, bytes: part.length });
    parts.push(part);
    return null;
  };
  const copyFields = (given: object, path: (string | number)[]): object => {
    const fields: [string, unknown][] = [];
    // A Map, an Error or a String object holds more than its fields.
    const hasOthers = !isPlain(given) && tagOf(given) !== '[object Object]';
    const keys = hasOthers ? [] : Object.keys(given);
    if (keys.length === 0 && !isPlain(given)) throw noJson(`an object that is a ${nameOf(given)}`, path);
    for (const key of keys) {
      if (key === '__proto__' || reachesPrototype(key, given)) throw new ValueFault(`the key ${key} is not allowed`);
      count(key.length + 3, 0);
      const child = copy(Reflect.get(given, key), [...path, key]);
      if (child !== undefined) fields.push([key, child]);
    }
    return Object.fromEntries(fields);
  };
  const copy = (current: unknown, path: (string | number)[]): unknown => {
    if (NO_JSON.has(typeof current)) throw noJson(`a ${typeof current}`, path);
    if (typeof current === 'number' && !Number.isFinite(current)) throw noJson(String(current), path);
    if (typeof current !== 'object' || current === null) {
      count(typeof current === 'string' ? current.length + 2 : 1);
      return current;
    }
    const part = bytesOf(current);
    if (part !== undefined) return keep(part, path);
    if (path.length >= MAX_DEPTH) throw new ValueFault(`nested over ${MAX_DEPTH} levels`);
    const toJSON: unknown = Reflect.get(current, 'toJSON');
    if (typeof toJSON === 'function') return copy(toJSON.call(current, ''), path);
    count(2);
    if (!Array.isArray(current)) return copyFields(current, path);
    // Count first: the copy of a sparse array allocates its holes.
    count(current.length, current.length);
    return Array.from(current, (child, index) => copy(child, [...path, index]) ?? null);
  };

  const json = copy(value, []);
  const size = Buffer.byteLength(JSON.stringify(json) ?? '');
  jsonBytes = 0;
  count(size, 0);
  return { json, places, parts };
}

const NO_JSON: ReadonlySet<string> = new Set(['bigint', 'function', 'symbol']);

function noJson(what: string, path: readonly (string | number)[]): ValueFault {
  const place = path.length === 0 ? '' : `, at ${path.join('.').slice(0, 100)}`;
  return new ValueFault(`${what} is no JSON value${place}`);
}

/** Checks for a plain object of any realm. */
function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

/** The built-in tag of an object, valid across realms. */
function tagOf(value: object): string {
  return Object.prototype.toString.call(value);
}

function nameOf(value: object): string {
  const { name }: { name?: unknown } = value.constructor ?? {};
  return typeof name === 'string' && name !== '' ? name.slice(0, 100) : 'class without a name';
}

/** The message parser refuses `constructor.prototype` like `__proto__`. */
function reachesPrototype(key: string, holder: object): boolean {
  if (key !== 'constructor') return false;
  const value: unknown = Reflect.get(holder, key);
  return typeof value === 'object' && value !== null && Object.hasOwn(value, 'prototype');
}

function bytesOf(value: object): Uint8Array | undefined {
  if (value instanceof Uint8Array) return value;
  if (value instanceof ArrayBuffer) return new Uint8Array(value);
  // Elements of other views are not unsigned bytes: they are wider, in machine byte order, or signed.
  const isBytes = ArrayBuffer.isView(value) && /Uint8|DataView/.test(tagOf(value));
  return isBytes ? new Uint8Array(value.buffer, value.byteOffset, value.byteLength) : undefined;
}

/**
 * Puts bytes back at their places.
 *
 * @param json plain JSON; it is changed
 * @returns the value
 * @throws {ValueFault} if a place does not exist or does not hold `null`
 */
export function attachBytes(json: unknown, places: readonly BytesPlace[], parts: readonly Uint8Array[]): unknown {
  const top = { value: json };
  places.forEach(({ path }, index) => {
    let holder: object = top;
    let key: string | number = 'value';
    for (const next of path) {
      const inner: unknown = Object.hasOwn(holder, key) ? Reflect.get(holder, key) : undefined;
      if (typeof inner !== 'object' || inner === null || ArrayBuffer.isView(inner))
        throw new ValueFault('it has no place for its bytes');
      [holder, key] = [inner, next];
    }
    if (!Object.hasOwn(holder, key) || Reflect.get(holder, key) !== null)
      throw new ValueFault('it has no place for its bytes');
    Reflect.set(holder, key, parts[index]);
  });
  return top.value;
}
