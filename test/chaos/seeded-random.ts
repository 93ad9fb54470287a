import type { SeededRandom } from '../../src/evals/seeded-random.ts';

export { seededRandom, type SeededRandom } from '../../src/evals/seeded-random.ts';

/** The items in a random order. */
export function shuffled<T>(random: SeededRandom, items: readonly T[]): T[] {
  const left = [...items];
  return items.flatMap(() => left.splice(random.between(0, left.length - 1), 1));
}
