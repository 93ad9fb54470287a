/** Numbers of calls. */
export interface CallCounts {
  /** Calls made one after the other. */
  sequence: number;
  /** Calls made with 32 under way. */
  together: number;
}

/** A program's report of its calls. */
export interface CallReport {
  /** Median milliseconds of the sequential calls. */
  callMs: number;
  /** Calls per second with 32 under way. */
  perSecond: number;
}

/** Makes and times calls. Its source text becomes part of other programs, so it must not use anything outside itself. */
export async function measureCalls(
  call: (args: object) => Promise<unknown>,
  { sequence, together }: CallCounts,
): Promise<CallReport> {
  const places = 32;
  const makeSome = async (count: number): Promise<void> => {
    for (let left = count; left > 0; left -= 1) await call({});
  };
  const makeAll = async (): Promise<void> => {
    await Promise.all(Array.from({ length: places }, () => makeSome(Math.ceil(together / places))));
  };
  // Warm-up: compiles the code on the whole way of a call.
  await makeSome(sequence);
  await makeAll();
  const times: number[] = [];
  for (let made = 0; made < sequence; made += 1) {
    const started = performance.now();
    await call({});
    times.push(performance.now() - started);
  }
  const started = performance.now();
  await makeAll();
  const perSecond = (together * 1000) / (performance.now() - started);
  return { callMs: times.sort((a, b) => a - b)[sequence >> 1] ?? Number.NaN, perSecond };
}
