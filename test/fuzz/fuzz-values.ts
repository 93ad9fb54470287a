import assert from 'node:assert/strict';
import type { SeededRandom } from '../chaos/seeded-random.ts';
import { JsonRefused, parseBoundedJson } from '../../src/protocol/channel/bounded-json.ts';
import { attachBytes, detachBytes, ValueFault } from '../../src/protocol/messages/value-bytes.ts';
import { assertNotPolluted, mutated, somePath, someValue } from './fuzz-parts.ts';

const MIB = 1024 * 1024;

/** Values with bytes. They come back unchanged, and invalid places are refused. */
export async function fuzzValues(random: SeededRandom): Promise<void> {
  const value = someValue(random, 5, true);
  const { json, places, parts } = detachBytes(value, { jsonBytes: MIB, partBytes: MIB });
  const bytes = Buffer.from(JSON.stringify(json));
  // A key that a prototype could have is refused in JSON from outside.
  const parsed = parsedOrRefused(bytes);
  if (parsed !== undefined) assert.deepEqual(attachBytes(parsed.value, places, parts), value);
  parsedOrRefused(mutated(random, bytes));

  const lies = Array.from({ length: random.between(1, 3) }, () => ({ path: somePath(random), bytes: 1 }));
  try {
    attachBytes(structuredClone(json), lies, [Buffer.of(1), Buffer.of(2), Buffer.of(3)]);
  } catch (error) {
    assert.ok(error instanceof ValueFault, `${error}`);
  }
  assertNotPolluted();
}

function parsedOrRefused(bytes: Buffer): { value: unknown } | undefined {
  try {
    return { value: parseBoundedJson(bytes, { maxBytes: MIB }) };
  } catch (error) {
    assert.ok(error instanceof JsonRefused, `${error}`);
    return undefined;
  }
}
