const TRY_MS = 5;

/** Gives jobs that run the processors first, for a while: as long as `mostTries` allows, in steps of 5 ms. */
export async function waitWhileBusy(isBusy: () => boolean, mostTries: () => number, until: AbortSignal): Promise<void> {
  for (let tries = 0; isBusy() && tries < mostTries() && !until.aborted; tries += 1) {
    await new Promise((resolve) => setTimeout(resolve, TRY_MS));
  }
}
