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

/** Measures all subjects in turns, so that a busy moment of the machine falls on all of them. */
export async function takeTurns(
  subjects: readonly Subject[],
  rounds: number,
  progress: (text: string) => void,
): Promise<Map<string, number[]>> {
  const values = new Map<string, number[]>(subjects.map(({ id }) => [id, []]));
  for (let round = -WARM_UP; round < rounds; round += 1) {
    for (const { id, prepare, sample } of subjects) {
      await prepare?.();
      const taken = await sample();
      if (round >= 0) values.get(id)?.push(taken);
    }
    if (round >= 0 && (round + 1) % 10 === 0) progress(`${round + 1} of ${rounds} rounds`);
  }
  return values;
}
