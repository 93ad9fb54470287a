import type { Isolation } from '../../src/contracts/jobs/result.ts';
import type { Runner } from '../../src/sandboxes/runner.ts';
import { compareRuns, type Difference } from './compare-runs.ts';
import type { Program, ProgramRun } from './program.ts';
import { type JobLevel, openLevel } from './run-as-job.ts';
import { isOnPurposeAt } from './differences-on-purpose.ts';
import type { PlainPlace } from './plain-place.ts';
import { runPlainly } from './run-plainly.ts';

/** The result of a comparison of one program at one level. */
export interface ComparedProgram {
  id: string;
  level: Isolation;
  verdict: 'same' | 'differs' | 'on purpose' | 'skipped';
  differences: Difference[];
  /** Why the program was skipped, or the row of the table that explains its differences. */
  reason?: string;
}

/** A level at which programs run as jobs. */
export interface ComparedLevel {
  /** Makes a runner that has the level. The caller closes it. */
  openRunner(): Runner;
  isolation: Isolation;
  /** The files that plain runs see, for the comparison with this level. */
  place: PlainPlace;
}

/** Options of {@link runFidelity}. */
export interface FidelityOptions {
  levels: readonly ComparedLevel[];
  /** Programs that run at the same time. */
  atOnce: number;
  onCompared?(compared: ComparedProgram): void;
}

/** Runs programs plainly and as jobs of warm sandboxes, one level after the other, and compares both runs. */
export async function runFidelity(
  programs: readonly Program[],
  { levels, atOnce, onCompared }: FidelityOptions,
): Promise<ComparedProgram[]> {
  const runsAt = new Map<PlainPlace, PlainRuns>();
  const compared: ComparedProgram[] = [];
  for (const { openRunner, isolation, place } of levels) {
    const runs = runsAt.get(place) ?? plainRuns(place);
    runsAt.set(place, runs);
    const languages = [...new Set(programs.map(({ language }) => language))];
    // A pool keeps sandboxes for each language. Only one pool at a time is open, to save memory.
    for (const language of languages) {
      await using level = openLevel(openRunner(), isolation, { languages: [language], atOnce });
      const waiting = programs.filter((program) => program.language === language);
      const work = async (): Promise<void> => {
        for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
          const row = { id: next.id, level: isolation, ...(await compare(next, level, runs)) };
          compared.push(row);
          onCompared?.(row);
        }
      };
      await Promise.all(Array.from({ length: atOnce }, work));
    }
  }
  return compared;
}

/** Plain runs at one place, shared by all levels with that place. */
interface PlainRuns {
  first(program: Program): Promise<ProgramRun>;
  another(program: Program): Promise<ProgramRun>;
}

function plainRuns(place: PlainPlace): PlainRuns {
  const runs = new Map<Program, Promise<ProgramRun>>();
  const another = (program: Program): Promise<ProgramRun> => runPlainly(program, place);
  return {
    first(program) {
      const run = runs.get(program) ?? another(program);
      runs.set(program, run);
      return run;
    },
    another,
  };
}

async function compare(
  program: Program,
  level: JobLevel,
  runs: PlainRuns,
): Promise<Pick<ComparedProgram, 'verdict' | 'differences' | 'reason'>> {
  let plain: ProgramRun;
  try {
    plain = await runs.first(program);
  } catch (cause) {
    return { verdict: 'skipped', differences: [], reason: `it does not run plainly: ${(cause as Error).message}` };
  }
  const differences = await differencesOf(program, plain, level);
  if (differences.length === 0) return { verdict: 'same', differences };
  const { onPurpose } = program;
  if (onPurpose !== undefined && isOnPurposeAt(onPurpose, level.isolation))
    return { verdict: 'on purpose', differences, reason: onPurpose };
  const again = compareRuns(program, plain, await runs.another(program));
  if (again.length === 0) return { verdict: 'differs', differences };
  return { verdict: 'skipped', differences: [], reason: `two plain runs differ in ${again[0]?.what}` };
}

async function differencesOf(program: Program, plain: ProgramRun, level: JobLevel): Promise<Difference[]> {
  try {
    return compareRuns(program, plain, await level.run(program));
  } catch (cause) {
    // A job without a result is a difference.
    return [{ what: 'job', plain: 'runs', job: (cause as Error).message }];
  }
}
