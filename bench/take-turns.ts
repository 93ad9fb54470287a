import { type Failure, failureOf, type Taken } from './measurement.ts';

/** Something whose time is taken. */
export interface Subject {
  id: string;
  /** What has to be done before each sample and is no part of it. */
  prepare?(): Promise<void>;
  /** Returns its own time, so that checks of the outcome are not counted. */
  sample(): Promise<number>;
}

/** How many rounds are not counted: code is compiled and files come into the page cache in them. */
const WARM_UP = 2;

/**
 * Measures all subjects in turns, so that a busy moment of the machine falls on all of them. One that fails has no more
 * turns, and the others go on.
 */
export async function takeTurns(
  subjects: readonly Subject[],
  rounds: number,
  progress: (text: string) => void,
): Promise<Map<string, Taken>> {
  const values = new Map<string, number[]>(subjects.map(({ id }) => [id, []]));
  const failures = new Map<string, Failure>();
  for (let round = -WARM_UP; round < rounds; round += 1) {
    for (const { id, prepare, sample } of subjects) {
      if (failures.has(id)) continue;
      try {
        await prepare?.();
        const taken = await sample();
        if (round >= 0) values.get(id)?.push(taken);
      } catch (error) {
        failures.set(id, failureOf(error));
        progress(`${id} failed: ${failures.get(id)?.failed}`);
      }
    }
    if (round >= 0 && (round + 1) % 10 === 0) progress(`${round + 1} of ${rounds} rounds`);
  }
  return new Map<string, Taken>([...values, ...failures]);
}
