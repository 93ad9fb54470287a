import { findForm } from './find-form.ts';
import type { WashTable } from './wash-table.ts';

/** Replaces secrets in one body by their placeholders. */
export interface Washer {
  /**
   * Takes the next bytes and returns all washed bytes that no further bytes can change, in pieces. Pieces may be views of the given memory.
   */
  push(chunk: Buffer): Buffer[];
  /**
   * Returns the held bytes. If they are the beginning of a form and at least 12 bytes or half of the form, then the placeholder's beginning
   * replaces them: a body that ends within a secret shows at most 11 bytes, and less than half, of it.
   */
  end(): Buffer[];
}

const NOTHING: Buffer = Buffer.alloc(0);

/** Creates a washer for one body. The result does not depend on the division into chunks. */
export function createWasher(table: WashTable): Washer {
  /** The beginning of a form, shorter than the longest form. */
  let held = NOTHING;

  /**
   * Washes bytes from a position on. Once an occurrence or plain bytes reach `until`, the rest is left to the caller.
   *
   * @returns the position of the rest; undefined if all bytes are washed or held
   */
  const wash = (bytes: Buffer, from: number, until: number, isEnd: boolean, pieces: Buffer[]): number | undefined => {
    for (let at = from; ;) {
      const found = findForm(table, bytes, at, isEnd);
      const start = found?.start ?? bytes.length;
      const end = Math.min(start, until);
      if (end > at) pieces.push(bytes.subarray(at, end));
      if (start >= until) return until;
      if (found?.end === undefined) {
        // A view would keep the chunk in memory, and the caller may use its memory again.
        held = start === bytes.length ? NOTHING : Buffer.from(bytes.subarray(start));
        return undefined;
      }
      pieces.push(found.put);
      at = found.end;
      if (at >= until) return at;
    }
  };

  return {
    push(chunk) {
      const pieces: Buffer[] = [];
      const before = held.length;
      let from: number | undefined = 0;
      if (before > 0) {
        // Enough bytes to decide on each occurrence that begins in the held bytes, so the chunk itself is not copied.
        const joined = Buffer.concat([held, chunk.subarray(0, table.longest)]);
        const isWhole = joined.length === before + chunk.length;
        from = wash(joined, 0, isWhole ? Infinity : before, false, pieces);
        if (from !== undefined) from -= before;
      }
      if (from !== undefined) wash(chunk, from, Infinity, false, pieces);
      return pieces;
    },
    end() {
      const pieces: Buffer[] = [];
      wash(held, 0, Infinity, true, pieces);
      return pieces;
    },
  };
}
