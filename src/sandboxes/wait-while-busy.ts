const TRY_MS = 5;

/** Waits while jobs run, for at most `mostTries` steps of 5 ms, so that the jobs get the processors first. */
export async function waitWhileBusy(isBusy: () => boolean, mostTries: () => number, until: AbortSignal): Promise<void> {
  for (let tries = 0; isBusy() && tries < mostTries() && !until.aborted; tries += 1) {
    await new Promise((resolve) => setTimeout(resolve, TRY_MS));
  }
}
