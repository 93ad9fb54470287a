/** One row of the output. `ratio` is `median` over the baseline's median; both were measured in this run. */
export interface Measurement {
  id: string;
  unit: string;
  median: number;
  p95: number;
  baseline: { id: string; median: number };
  ratio: number;
  /** The goal of the median or the ratio; null without a goal. */
  goal: string | null;
  /** The reason for missing numbers, in one line; then each number of the row is NaN. */
  failed?: string;
}

/** The samples of a subject, or the reason why there are none. */
export type Taken<Sample = number> = readonly Sample[] | Failure;

/** A subject that could not be measured to the end. */
export interface Failure {
  /** One line. */
  failed: string;
}

/** Input of a row. */
export interface Samples {
  id: string;
  unit: string;
  goal: string | null;
  values: Taken;
  baseline: { id: string; values: Taken };
}

/** Makes a row from the samples of a subject and of its baseline. */
export function measurementOf({ id, unit, goal, values, baseline }: Samples): Measurement {
  if ('failed' in values) return failedMeasurement(id, values.failed, { unit, goal, baseline: baseline.id });
  if ('failed' in baseline.values) {
    const reason = `its baseline failed: ${baseline.values.failed}`;
    return failedMeasurement(id, reason, { unit, goal, baseline: baseline.id });
  }
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

/** Makes a row from the samples of `takeTurns`, in milliseconds. @param baseline id of the baseline */
export function timedRow(
  values: ReadonlyMap<string, Taken>,
  { id, goal, baseline }: Pick<Samples, 'id' | 'goal'> & { baseline: string },
): Measurement {
  const [own, other] = [values.get(id) ?? [], values.get(baseline) ?? []];
  return measurementOf({ id, unit: 'ms', goal, values: own, baseline: { id: baseline, values: other } });
}

/** The row of a subject that failed. */
export function failedMeasurement(
  id: string,
  failed: string,
  { unit = '', goal = null, baseline = '' }: { unit?: string; goal?: string | null; baseline?: string } = {},
): Measurement {
  const none = Number.NaN;
  return { id, unit, median: none, p95: none, baseline: { id: baseline, median: none }, ratio: none, goal, failed };
}

/** One number of each sample. */
export function numbersOf<Sample>(taken: Taken<Sample> | undefined, read: (sample: Sample) => number): Taken {
  if (taken === undefined) return [];
  return 'failed' in taken ? taken : taken.map(read);
}

/** The text of an error, in one line. */
export function failureOf(error: unknown): Failure {
  return { failed: String(error).replaceAll(/\s+/g, ' ').slice(0, 300) };
}

/** The quantile of the values at `share`, interpolated between the two nearest values. */
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
