import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { BenchmarkOptions } from './benchmark-group.ts';
import { writeSkills } from './generate-skills.ts';
import { measurementOf, type Measurement } from './measurement.ts';
import { takeTurns } from './take-turns.ts';

/** Number of skills in a measurement. */
export const COUNT = 1_000;

/** Work on all skills. Its return value shows whether it has seen all of them. */
export type Work = () => number | Promise<number>;

/** Work on the skills, and the minimal work as the baseline. */
export interface SkillsSubject {
  id: string;
  baseline: string;
  goal: string;
  /** Default number of rounds. */
  rounds: number;
  /** The expected return value of both; if undefined, the first returned value. */
  expected?: number;
  /** Untimed preparation in a folder with `skills` in it. `close` ends it. */
  open(folder: string): Promise<{ work: Work; least: Work; close?(): Promise<void> }>;
}

/** Measures work on 1,000 generated skills, and a loop with the minimal work, in turns. */
export async function measureSkills(
  { id, baseline, goal, rounds, expected, open }: SkillsSubject,
  { samples = rounds, progress }: BenchmarkOptions,
): Promise<Measurement[]> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'bench-skills-')));
  try {
    await writeSkills(join(folder, 'skills'), COUNT);
    const { work, least, close } = await open(folder);
    let wanted = expected;
    const timed = (each: Work) => async (): Promise<number> => {
      const started = performance.now();
      const seen = await each();
      const taken = performance.now() - started;
      wanted ??= seen;
      if (seen === 0 || seen !== wanted) throw new Error(`Cannot measure ${id}: not all was seen, got ${seen}.`);
      return taken;
    };
    try {
      const subjects = [
        { id: baseline, sample: timed(least) },
        { id, sample: timed(work) },
      ];
      const values = await takeTurns(subjects, samples, progress);
      const other = { id: baseline, values: values.get(baseline) ?? [] };
      return [measurementOf({ id, unit: 'ms', goal, values: values.get(id) ?? [], baseline: other })];
    } finally {
      await close?.();
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
