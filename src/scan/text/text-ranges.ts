import { growingOffsets } from './growing-offsets.ts';

/** A range of text; `end` is exclusive. */
export interface TextRange {
  start: number;
  end: number;
}

/** Whether an offset is in one of the ranges, which are sorted and do not overlap. */
export function isInRanges(ranges: readonly TextRange[], at: number): boolean {
  let low = 0;
  for (let high = ranges.length; low < high;) {
    const middle = (low + high) >> 1;
    if ((ranges[middle]?.end ?? 0) <= at) low = middle + 1;
    else high = middle;
  }
  return (ranges[low]?.start ?? Infinity) <= at;
}

/** Makes a test for whether an offset is in one of many sorted, separate ranges. It holds no object for each range. */
export function rangeLookup(ranges: Iterable<TextRange>): (at: number) => boolean {
  const starts = growingOffsets();
  const ends = growingOffsets();
  for (const { start, end } of ranges) {
    starts.push(start);
    ends.push(end);
  }
  return (at) => {
    let low = 0;
    for (let high = ends.length(); low < high;) {
      const middle = (low + high) >> 1;
      if (ends.at(middle) <= at) low = middle + 1;
      else high = middle;
    }
    return low < ends.length() && starts.at(low) <= at;
  };
}
