import { isScalar } from './lazy-yaml.ts';
import { entriesOf, itemsOf } from './yaml-values.ts';

/** A key or a value in double quotes. No other text in YAML has escapes. */
export interface DoubleQuoted {
  value: string;
  /** As it is written, quotes included. */
  source: string;
  /** Offset in the document. */
  at: number;
}

/**
 * Finds all keys and values in double quotes. It avoids recursion, because the author controls the depth of nesting.
 *
 * @param root a node that `readYaml` accepted
 * @param document the text that it was read from
 */
export function doubleQuotedIn(root: unknown, document: string): DoubleQuoted[] {
  const found: DoubleQuoted[] = [];
  const pending = [root];
  while (pending.length > 0) {
    const node = pending.pop();
    if (isScalar(node) && node.type === 'QUOTE_DOUBLE' && typeof node.value === 'string' && node.range) {
      const [at, end] = node.range;
      found.push({ value: node.value, source: document.slice(at, end), at });
    }
    for (const { keyNode, node: value } of entriesOf(node) ?? []) pending.push(keyNode, value);
    for (const item of itemsOf(node) ?? []) pending.push(item);
  }
  return found.toSorted((one, other) => one.at - other.at);
}
