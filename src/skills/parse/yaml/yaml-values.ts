import { isMap, isScalar, isSeq } from './lazy-yaml.ts';
import { keyText } from './read-yaml.ts';

/** A key of a map with the node of its value. */
export interface YamlEntry {
  key: string;
  /** The node of the key, for its place. */
  keyNode: unknown;
  node: unknown;
}

/**
 * Lists the entries of a map in their order.
 *
 * @param node a node that `readYaml` accepted
 * @returns the entries, or undefined if the node is no map
 */
export function entriesOf(node: unknown): YamlEntry[] | undefined {
  if (!isMap(node)) return undefined;
  const entries: YamlEntry[] = [];
  for (const { key, value } of node.items) {
    if (isScalar(key)) entries.push({ key: keyText(key), keyNode: key, node: value });
  }
  return entries;
}

/**
 * Lists the items of a list in their order.
 *
 * @param node a node that `readYaml` accepted
 * @returns the nodes of the items, or undefined if the node is no list
 */
export function itemsOf(node: unknown): unknown[] | undefined {
  return isSeq(node) ? node.items : undefined;
}

/**
 * Tells whether there is no value: nothing after the key, `~` or `null`.
 *
 * @param node a node, or the value in place of a node
 */
export function isNull(node: unknown): boolean {
  return node === undefined || node === null || (isScalar(node) && node.value === null);
}

/**
 * Returns a scalar as it was written, quotes resolved: `1.0` stays `1.0`.
 *
 * @param node a node that `readYaml` accepted
 * @returns the text, or undefined for lists, maps and null
 */
export function writtenText(node: unknown): string | undefined {
  if (!isScalar(node) || node.value === null || node.value === undefined) return undefined;
  return node.source ?? String(node.value);
}

/**
 * Returns the value of a node in the YAML 1.2 core schema. A whole number beyond 2^53 stays text, since a number would
 * lose its last digits. Every call makes fresh objects; `__proto__` is an ordinary key.
 *
 * @param node a node that `readYaml` accepted
 * @returns plain data
 */
export function dataOf(node: unknown): unknown {
  if (isScalar(node)) return isInexact(node.value, node.source) ? node.source : node.value;
  if (isSeq(node)) return node.items.map(dataOf);
  const entries = entriesOf(node);
  if (entries === undefined) return null;
  const data: Record<string, unknown> = {};
  for (const { key, node: value } of entries) setOwn(data, key, dataOf(value));
  return data;
}

/**
 * Sets a property of the object itself; a plain assignment to `__proto__` would change the prototype instead.
 *
 * @param target object that gets the property
 * @param key its name
 * @param value its value
 */
export function setOwn<Value>(target: Record<string, Value>, key: string, value: Value): void {
  if (key === '__proto__')
    Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true });
  else target[key] = value;
}

const EXACT_LIMIT = 2 ** 53;
const INTEGER = /^[-+]?(\d+|0o[0-7]+|0x[\da-f]+)$/i;

/** Whether a whole number, in any notation, is too large for a JavaScript number to hold exactly. */
function isInexact(value: unknown, written: string | undefined): boolean {
  if (typeof value !== 'number' || !Number.isInteger(value) || Math.abs(value) < EXACT_LIMIT) return false;
  const digits = INTEGER.exec(written ?? '')?.[1];
  return digits === undefined ? Math.abs(value) > EXACT_LIMIT : BigInt(digits) > BigInt(EXACT_LIMIT);
}
