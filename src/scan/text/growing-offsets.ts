/** A list of offsets that may be as long as a text. */
export interface GrowingOffsets {
  push(offset: number): void;
  /** 0 beyond the end. */
  at(index: number): number;
  length(): number;
}

/** Makes an empty list. It needs four bytes for each offset, far less than objects do. */
export function growingOffsets(): GrowingOffsets {
  let offsets = new Uint32Array(16);
  let length = 0;
  return {
    push(offset) {
      if (length === offsets.length) {
        const more = new Uint32Array(2 * length);
        more.set(offsets);
        offsets = more;
      }
      offsets[length] = offset;
      length += 1;
    },
    at: (index) => (index < length ? (offsets[index] ?? 0) : 0),
    length: () => length,
  };
}
