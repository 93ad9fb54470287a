/** Lets so many run at once, in the order in which they came. */
export type TakePlace = <Result>(work: () => Promise<Result>) => Promise<Result>;

/** Makes so many places; whoever finds none waits for one. */
export function createPlaces(count: number): TakePlace {
  const waiting: (() => void)[] = [];
  let free = count;
  return async (work) => {
    if (free > 0) free -= 1;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next === undefined) free += 1;
      else next();
    }
  };
}
