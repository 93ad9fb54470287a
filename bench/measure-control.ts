/** Medians of round trips in milliseconds. */
export interface ControlReport {
  idleMs: number;
  busyMs: number;
}

/**
 * Times calls, alone and while a child of the program downloads on many connections without a pause. The text of this function is also a
 * program of sandboxes, so it uses nothing outside of itself.
 */
export async function measureControl(
  call: (args: object) => Promise<unknown>,
  base: string,
  { calls, connections }: { calls: number; connections: number },
): Promise<ControlReport> {
  const { spawn } = process.getBuiltinModule('node:child_process');
  // More than any benchmark reads.
  const endlessMib = 1_000_000;
  const download = async (url: string, count: number): Promise<void> => {
    let begun = 0;
    const readAll = async (): Promise<void> => {
      const body = (await fetch(url)).body ?? [];
      begun += 1;
      if (begun === count) console.log('all have begun');
      for await (const _chunk of body);
    };
    await Promise.all(Array.from({ length: count }, readAll));
  };
  // A pause after each, so that the next finds the connections at another point.
  const roundTripMs = async (): Promise<number> => {
    const times: number[] = [];
    for (let made = 0; made < calls; made += 1) {
      const started = performance.now();
      await call({});
      times.push(performance.now() - started);
      await new Promise((done) => setTimeout(done, 1));
    }
    return times.toSorted((a, b) => a - b)[calls >> 1] ?? Number.NaN;
  };
  await roundTripMs();
  const idleMs = await roundTripMs();
  const code = `(${String(download)})('${base}/bulk/${endlessMib}', ${connections})`;
  const child = spawn(process.execPath, ['-e', code], { stdio: ['ignore', 'pipe', 'inherit'] });
  await new Promise((resolve, reject) => {
    child.stdout.once('data', resolve);
    child.once('exit', (status) => reject(new Error(`Cannot measure: the downloads ended, got ${status}.`)));
  });
  await roundTripMs();
  const busyMs = await roundTripMs();
  if (child.exitCode !== null) throw new Error(`Cannot measure: the downloads ended, got ${child.exitCode}.`);
  child.kill('SIGKILL');
  return { idleMs, busyMs };
}
