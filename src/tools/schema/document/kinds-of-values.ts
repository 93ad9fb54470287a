export function isNumber(value: unknown): value is number {
  return typeof value === 'number';
}

export function isText(value: unknown): value is string {
  return typeof value === 'string';
}

export function isCount(value: unknown): value is number {
  return Number.isInteger(value) && (value as number) >= 0;
}

export function isList(value: unknown): value is readonly unknown[] {
  return Array.isArray(value);
}

export function isFilledList(value: unknown): value is readonly unknown[] {
  return isList(value) && value.length > 0;
}

export function isTextList(value: unknown): value is readonly string[] {
  return isList(value) && value.every(isText);
}

/** Whether a value is an object of JSON. Bytes and arrays are not. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !isList(value) && !isBytes(value);
}

/** Whether a value is bytes, which values may hold beside JSON. */
export function isBytes(value: unknown): value is Uint8Array {
  return value instanceof Uint8Array;
}
