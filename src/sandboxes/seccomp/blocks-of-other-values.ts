/** A block of 32-bit values: all values that equal `value` in the bits of `mask`. */
interface ValueBlock {
  readonly mask: number;
  readonly value: number;
}

const BITS = 32;

/**
 * Blocks that contain every 32-bit value except the given ones. The inequality test of libseccomp compares all 64 bits, but the kernel
 * reads only the lower half of some arguments. Only masked equality can ignore the upper half, so "none of these" becomes a set of
 * masked equalities.
 *
 * @param values unsigned 32-bit values to leave out
 * @returns disjoint blocks of maximal size
 */
export function blocksOfOtherValues(values: readonly number[]): ValueBlock[] {
  const split = (first: number, freeBits: number, inside: readonly number[]): ValueBlock[] => {
    const size = 2 ** freeBits;
    if (inside.length === 0) return [{ mask: 2 ** BITS - size, value: first }];
    if (freeBits === 0) return [];
    const middle = first + size / 2;
    return [
      ...split(
        first,
        freeBits - 1,
        inside.filter((value) => value < middle),
      ),
      ...split(
        middle,
        freeBits - 1,
        inside.filter((value) => value >= middle),
      ),
    ];
  };
  return split(0, BITS, values);
}
