/**
 * Does the same for many, a few at once. The first failure is that of the whole; what is under way is waited for.
 *
 * @returns results in the order of the items
 */
export async function eachAtOnce<Item, Result>(
  items: readonly Item[],
  atOnce: number,
  work: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results = [] as Result[];
  let next = 0;
  let failure: { error: unknown } | undefined;
  const worker = async (): Promise<void> => {
    while (next < items.length && failure === undefined) {
      const index = next;
      next += 1;
      try {
        results[index] = await work(items[index] as Item);
      } catch (error) {
        failure ??= { error };
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, items.length) }, worker));
  if (failure !== undefined) throw failure.error;
  return results;
}
