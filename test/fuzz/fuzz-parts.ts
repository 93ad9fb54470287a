import assert from 'node:assert/strict';
import type { SeededRandom } from '../chaos/seeded-random.ts';

/** Bytes of a given length, different from other calls. */
export function someBytes(random: SeededRandom, length: number): Buffer {
  const bytes = Buffer.allocUnsafe(length);
  const first = random.between(0, 255);
  for (let index = 0; index < length; index += 1) bytes[index] = first + index * 7 + (index >> 8);
  return bytes;
}

/** The same bytes in order, in pieces of any length. */
export function inPieces(random: SeededRandom, bytes: Buffer): Buffer[] {
  const most = random.pick([1, 7, 100, 5_000, 100_000, 1_000_000]);
  const pieces: Buffer[] = [];
  // Single bytes only for short inputs.
  const least = bytes.length > 20_000 ? 1_000 : 1;
  for (let at = 0; at < bytes.length;) {
    const size = Math.max(least, random.between(1, most));
    pieces.push(bytes.subarray(at, at + size));
    at += size;
  }
  return pieces;
}

/** Bytes with some of them changed, removed, doubled or added. */
export function mutated(random: SeededRandom, bytes: Buffer): Buffer {
  let result = Buffer.from(bytes);
  for (let round = random.between(1, 4); round > 0 && result.length > 0; round -= 1) {
    const at = random.between(0, result.length - 1);
    const to = Math.min(result.length, at + random.pick([1, 4, 10, 100, 10_000]));
    const [before, part, after] = [result.subarray(0, at), result.subarray(at, to), result.subarray(to)];
    const kind = random.between(0, 4);
    if (kind === 0) result.writeUInt8(random.between(0, 255), at);
    else if (kind === 1) result = Buffer.concat([before, after]);
    else if (kind === 2) result = Buffer.concat([before, part, part, after]);
    else if (kind === 3) result = before;
    else result = Buffer.concat([before, someBytes(random, random.between(1, 40)), part, after]);
  }
  return result;
}

const KEYS = ['a', 'b', 'length', '0', '1', 'toString', 'constructor', 'then', 'é\u202e', ''] as const;

/** A JSON value; with `bytes`, there may be bytes anywhere in it. */
export function someValue(random: SeededRandom, depth = 4, bytes = false): unknown {
  const kind = random.between(0, depth > 0 ? (bytes ? 8 : 7) : 5);
  if (kind <= 1) return null;
  if (kind === 2) return random.between(-1_000, 1_000);
  if (kind === 3) return random.pick(['', 'text', '\u0000', '\ud800', '__proto__', 'x'.repeat(2_000)]);
  if (kind <= 5) return kind === 4;
  if (kind === 6) return Array.from({ length: random.between(0, 4) }, () => someValue(random, depth - 1, bytes));
  if (kind === 8) return new Uint8Array(someBytes(random, random.pick([0, 1, 10, 5_000])));
  const fields = Array.from({ length: random.between(0, 4) }, () => [
    random.pick(KEYS),
    someValue(random, depth - 1, bytes),
  ]);
  return Object.fromEntries(fields) as unknown;
}

/** A path through a value. It mostly leads nowhere. */
export function somePath(random: SeededRandom): (string | number)[] {
  return Array.from({ length: random.between(0, 4) }, () =>
    random.pick<string | number>(['__proto__', 'constructor', 'prototype', 0, 1, 2 ** 32 - 1, ...KEYS]),
  );
}

/** Fails if a JSON value has changed the prototype of all objects. */
export function assertNotPolluted(): void {
  assert.deepEqual(Object.keys(Object.prototype), []);
  assert.deepEqual(Object.keys(Array.prototype), []);
  assert.equal(({} as Record<string, unknown>)['polluted'], undefined);
}

/** Waits until every pending callback of the event loop has had a turn. */
export async function settled(rounds = 1): Promise<void> {
  for (let round = 0; round < rounds; round += 1) await new Promise((resolve) => setImmediate(resolve));
}
