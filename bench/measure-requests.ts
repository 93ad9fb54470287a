/** Numbers of one turn. */
export interface RequestReport {
  /** Milliseconds of one request on an open connection, and on a new one. */
  keepMs: number;
  newMs: number;
  /** Requests a second, with 16 under way. */
  perSecond: number;
  /** Of one large answer. */
  mibPerSecond: number;
}

/** Sizes of {@link measureRequests}. */
export interface RequestCounts {
  keep: number;
  new: number;
  together: number;
  mib: number;
}

/** Requests small answers and a large one. The text of this function is also a program of sandboxes, so it uses nothing outside of itself. */
export async function measureRequests(base: string, counts: RequestCounts): Promise<RequestReport> {
  const { get } = process.getBuiltinModule('node:https');
  const ask = async (): Promise<void> => void (await (await fetch(`${base}/small`)).text());
  const askAnew = (): Promise<void> =>
    new Promise((resolve, reject) => {
      get(`${base}/small`, { headers: { connection: 'close' } }, (answer) => {
        answer.on('end', resolve).resume();
      }).on('error', reject);
    });
  const median = async (count: number, work: () => Promise<void>): Promise<number> => {
    const times: number[] = [];
    for (let made = 0; made < count; made += 1) {
      const started = performance.now();
      await work();
      times.push(performance.now() - started);
    }
    return times.toSorted((a, b) => a - b)[Math.floor(count / 2)] ?? Number.NaN;
  };
  await median(20, ask);
  const keepMs = await median(counts.keep, ask);
  await median(5, askAnew);
  const newMs = await median(counts.new, askAnew);
  let left = counts.together;
  const askOften = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      await ask();
    }
  };
  const together = performance.now();
  await Promise.all(Array.from({ length: 16 }, askOften));
  const perSecond = (counts.together / (performance.now() - together)) * 1_000;
  const bulk = performance.now();
  let bytes = 0;
  for await (const chunk of (await fetch(`${base}/bulk/${counts.mib}`)).body ?? []) bytes += chunk.length;
  if (bytes !== counts.mib * 1024 * 1024) throw new Error(`Cannot measure: ${bytes} bytes arrived.`);
  const mibPerSecond = (counts.mib / (performance.now() - bulk)) * 1_000;
  return { keepMs, newMs, perSecond, mibPerSecond };
}
