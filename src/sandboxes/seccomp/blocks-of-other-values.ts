/** A block of 32-bit values: all that agree with `value` in the bits of `mask`. */
interface ValueBlock {
  readonly mask: number;
  readonly value: number;
}

const BITS = 32;

/**
 * Blocks that hold every 32-bit value but the named ones. libseccomp compares all 64 bits for inequality, though the
 * kernel reads only the lower half of some arguments; masked equality is the one comparison that can leave the upper half
 * out, so "none of these" becomes a set of masked equalities.
 *
 * @param values - unsigned 32-bit values to leave out
 * @returns disjoint blocks, each as large as can be
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
