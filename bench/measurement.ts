/** One row of the output. `ratio` is `median` over the baseline's median; both were measured in this run. */
export interface Measurement {
  id: string;
  unit: string;
  median: number;
  p95: number;
  baseline: { id: string; median: number };
  ratio: number;
  /** What the median or the ratio should be; null where the number is only stated. */
  goal: string | null;
}

/** What a row is made of. */
export interface Samples {
  id: string;
  unit: string;
  goal: string | null;
  values: readonly number[];
  baseline: { id: string; values: readonly number[] };
}

/** Makes a row of the samples of a subject and of its baseline. */
export function measurementOf({ id, unit, goal, values, baseline }: Samples): Measurement {
  const own = quantile(values, 0.5);
  const other = quantile(baseline.values, 0.5);
  return {
    id,
    unit,
    median: round(own),
    p95: round(quantile(values, 0.95)),
    baseline: { id: baseline.id, median: round(other) },
    ratio: round(own / other),
    goal,
  };
}

/** The value below which the given share of the values lies, between the two nearest ones where it falls between. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  const place = (sorted.length - 1) * share;
  const low = sorted[Math.floor(place)] ?? Number.NaN;
  const high = sorted[Math.ceil(place)] ?? Number.NaN;
  return low + (high - low) * (place - Math.floor(place));
}

function round(value: number): number {
  return Number(value.toPrecision(4));
}
