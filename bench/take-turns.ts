import { type Failure, failureOf, type Taken } from './measurement.ts';

/** A subject whose samples are times, or reports of several numbers. */
export interface Subject<Sample = number> {
  id: string;
  /** Untimed preparation before each sample. */
  prepare?(): Promise<void>;
  /** Returns its own time, so that checks of the outcome are not counted. */
  sample(): Promise<Sample>;
}

/** Number of uncounted rounds, in which code is compiled and files enter the page cache. */
const WARM_UP = 2;

/**
 * Measures all subjects in turns, so that a busy moment of the machine affects all of them. A subject that fails gets no more turns, and the others
 * continue.
 */
export async function takeTurns<Sample = number>(
  subjects: readonly Subject<Sample>[],
  rounds: number,
  progress: (text: string) => void,
): Promise<Map<string, Taken<Sample>>> {
  const values = new Map<string, Sample[]>(subjects.map(({ id }) => [id, []]));
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
  return new Map<string, Taken<Sample>>([...values, ...failures]);
}
