import { FARTHEST_CONDITIONAL_JUMP, skip, skipIfAtLeast, type BpfInstruction } from './bpf-instruction.ts';

/** Neighbouring numbers with the same code, which ends in a verdict; a range ends where the next one begins. */
export interface NumberRange {
  readonly first: number;
  readonly code: readonly BpfInstruction[];
}

/**
 * A binary search for the range that holds the number in the accumulator, each range's code being a leaf.
 *
 * @param ranges - at least one, ascending; numbers below the first one go to it
 */
export function searchTree(ranges: readonly NumberRange[]): readonly BpfInstruction[] {
  const half = ranges.length >> 1;
  const middle = ranges[half];
  if (middle === undefined) return [];
  if (half === 0) return middle.code;
  const lower = searchTree(ranges.slice(0, half));
  const upper = searchTree(ranges.slice(half));
  const branch =
    lower.length <= FARTHEST_CONDITIONAL_JUMP
      ? [skipIfAtLeast(middle.first, lower.length, 0)]
      : [skipIfAtLeast(middle.first, 0, 1), skip(lower.length)];
  return [...branch, ...lower, ...upper];
}
