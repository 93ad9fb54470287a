import { SchemaRefused } from '../schema-refused.ts';
import type { SchemaNode } from './node.ts';

/** How often schemas may be asked about one and the same value. */
const MAX_FAN = 20_000;
const MAX_CHAIN = 500;
const OPEN = -1;

/**
 * Refuses schemas of which no value can be judged: those that ask themselves about the same value, and those that ask others again and again:
 * thirty schemas that refer to the next one twice ask the last one 2^30 times.
 */
export function checkFans(nodes: Iterable<SchemaNode>): void {
  const fans = new Map<SchemaNode, number>();
  for (const node of nodes) fanOf(node, fans, 0);
}

function fanOf(node: SchemaNode, fans: Map<SchemaNode, number>, chain: number): number {
  const known = fans.get(node);
  if (known === OPEN) throw new SchemaRefused('the keyword "$ref" back to its own schema, about the same value');
  if (known !== undefined) return known;
  if (chain > MAX_CHAIN) throw new SchemaRefused(`the keyword "$ref" in a chain of more than ${MAX_CHAIN} schemas`);
  fans.set(node, OPEN);
  const fan = node.inPlace.reduce((sum, part) => sum + fanOf(part, fans, chain + 1), 1);
  if (fan > MAX_FAN) throw new SchemaRefused(`the keyword "$ref" so that one value is judged over ${MAX_FAN} times`);
  fans.set(node, fan);
  return fan;
}
