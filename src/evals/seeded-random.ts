/** Pseudorandom numbers, the same for the same seed. */
export interface SeededRandom {
  /** An integer from `low` to `high`, both included. */
  between(low: number, high: number): number;
  pick<T>(choices: readonly [T, ...T[]]): T;
}

/** mulberry32, by Tommy Ettinger (public domain): 32 bits of state are plenty for an order, a shuffle or a point in time. */
export function seededRandom(seed: number): SeededRandom {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const between = (low: number, high: number): number => low + Math.floor(next() * (high - low + 1));
  return { between, pick: (choices) => choices[between(0, choices.length - 1)] ?? choices[0] };
}
