import { createWasher } from '../../../src/egress/secrets/washer.ts';
import type { WashTable } from '../../../src/egress/secrets/wash-table.ts';

/** Washes a body that arrives in chunks of the given lengths; the last length repeats. */
export function washChunks(table: WashTable, body: Buffer, lengths: readonly number[] = [Infinity]): Buffer {
  const washer = createWasher(table);
  const pieces: Buffer[] = [];
  for (let at = 0, index = 0; at < body.length; index++) {
    const end = Math.min(body.length, at + (lengths[Math.min(index, lengths.length - 1)] ?? Infinity));
    // A washer must not keep views of memory that its caller uses again.
    const chunk = Buffer.from(body.subarray(at, end));
    pieces.push(...washer.push(chunk).map((piece) => Buffer.from(piece)));
    chunk.fill(0);
    at = end;
  }
  return Buffer.concat([...pieces, ...washer.end()]);
}
