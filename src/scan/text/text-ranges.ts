/** A stretch of text, `end` not included. */
export interface TextRange {
  start: number;
  end: number;
}

/** Whether an offset lies in one of the ranges, which are in order and apart. */
export function isInRanges(ranges: readonly TextRange[], at: number): boolean {
  let low = 0;
  for (let high = ranges.length; low < high;) {
    const middle = (low + high) >> 1;
    if ((ranges[middle]?.end ?? 0) <= at) low = middle + 1;
    else high = middle;
  }
  return (ranges[low]?.start ?? Infinity) <= at;
}
