/** How many calls are made. */
export interface CallCounts {
  /** One after the other. */
  sequence: number;
  /** With 32 under way. */
  together: number;
}

/** What a program says of its calls. */
export interface CallReport {
  /** Milliseconds of one, in the middle of those that go one after the other. */
  callMs: number;
  /** Calls a second with 32 under way. */
  perSecond: number;
}

/** Makes calls and says what they take. Its text is part of programs that know nothing else of this file. */
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
  // Code is compiled first, at all places that a call passes.
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
