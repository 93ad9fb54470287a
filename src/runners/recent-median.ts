/** The median of the numbers that came last. */
export interface RecentMedian {
  add(value: number): void;
  /** Null before the first number. */
  median(): number | null;
}

/** Keeps the last `kept` numbers. */
export function createRecentMedian(kept: number): RecentMedian {
  const values: number[] = [];
  return {
    add(value) {
      values.push(value);
      if (values.length > kept) values.shift();
    },
    median() {
      const sorted = values.toSorted((a, b) => a - b);
      const upper = sorted[Math.floor(sorted.length / 2)];
      const lower = sorted[Math.ceil(sorted.length / 2) - 1];
      return upper === undefined || lower === undefined ? null : (lower + upper) / 2;
    },
  };
}
