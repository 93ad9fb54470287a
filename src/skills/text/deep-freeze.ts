/**
 * Freezes plain data and all values in it.
 *
 * @param value plain data without cycles
 * @returns the same value
 */
export function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  Object.freeze(value);
  for (const member of Object.values(value)) if (typeof member === 'object') deepFreeze(member);
  return value;
}
