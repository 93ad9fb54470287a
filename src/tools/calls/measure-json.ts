/** Limits for a value from a sandbox. */
export interface JsonValueCaps {
  /** Bytes of the value as JSON. */
  maxBytes: number;
  /** Nesting of arrays and objects. @default 64 */
  maxDepth?: number;
  /** Values in all. @default 200,000 */
  maxValues?: number;
}

/** The size of an acceptable value as JSON without blanks, or its fault. */
export type JsonMeasure = { bytes: number } | { fault: string; isTooLarge?: true };

/**
 * Checks that a value is plain JSON within its limits, without recursion and without serialising it first. Keys that
 * could reach a prototype (`__proto__`, `constructor` with a `prototype` in it) are faults.
 *
 * @param value anything
 * @param caps the limits
 * @returns the size, or the first fault
 */
export function measureJson(value: unknown, caps: JsonValueCaps): JsonMeasure {
  const maxDepth = caps.maxDepth ?? 64;
  const maxValues = caps.maxValues ?? 200_000;
  const open: { value: unknown; depth: number }[] = [{ value, depth: 0 }];
  let bytes = 0;
  let values = 0;
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { value: current, depth } = next;
    if (typeof current !== 'object' || current === null) {
      const size = scalarBytes(current, caps.maxBytes);
      if (size === undefined) return { fault: `a ${typeof current} is no JSON value` };
      bytes += size;
    } else {
      if (depth >= maxDepth) return { fault: `nested over ${maxDepth} levels` };
      const entries = plainEntries(current);
      if (typeof entries === 'string') return { fault: entries };
      values += entries.length;
      bytes += 2 + Math.max(0, entries.length - 1);
      if (values > maxValues) return { fault: `over ${maxValues} values`, isTooLarge: true };
      for (const [key, child] of entries) {
        if (key !== undefined) bytes += textBytes(key, caps.maxBytes) + 1;
        open.push({ value: child, depth: depth + 1 });
      }
    }
    if (bytes > caps.maxBytes) return { fault: `over ${caps.maxBytes} bytes`, isTooLarge: true };
  }
  return { bytes };
}

function plainEntries(value: object): [string | undefined, unknown][] | string {
  if (Array.isArray(value)) return Array.from(value, (child): [undefined, unknown] => [undefined, child]);
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== null && prototype !== Object.prototype) return 'an object with a prototype of its own is no JSON';
  const entries = Object.entries(value);
  for (const [key, child] of entries) {
    if (key === '__proto__') return 'the key __proto__ is not allowed';
    if (key === 'constructor' && typeof child === 'object' && child !== null && Object.hasOwn(child, 'prototype')) {
      return 'the key constructor.prototype is not allowed';
    }
  }
  return entries;
}

function scalarBytes(value: unknown, maxBytes: number): number | undefined {
  if (typeof value === 'string') return textBytes(value, maxBytes);
  if (typeof value === 'number') return Number.isFinite(value) ? String(value).length : undefined;
  if (value === null || value === true) return 4;
  return value === false ? 5 : undefined;
}

/** A text over the limit is not scanned: its length is enough. */
function textBytes(text: string, maxBytes: number): number {
  return text.length > maxBytes ? text.length : Buffer.byteLength(JSON.stringify(text));
}
