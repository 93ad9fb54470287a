import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadSkillsSubsystem, type SkillsSubsystem } from '../src/skills/index.ts';
import type { BenchmarkGroup, BenchmarkOptions } from './benchmark-group.ts';
import { triggerPatterns, triggerTexts, writeTriggerSkills } from './generate-triggers.ts';
import { measurementOf, type Measurement } from './measurement.ts';
import { takeTurns, type Subject } from './take-turns.ts';

const ID = 'skills.match1000';
const FIRST = `${ID}.first`;
const COUNT = 1_000;
const ROUNDS = 40;
const FIRST_ROUNDS = 5;

/** Matching 1,000 skills against four tasks, and a loop that only searches the same patterns with V8's engine as the baseline. */
export const skillsMatch: BenchmarkGroup = { ids: [ID, FIRST], run };

async function run({ samples, wants, progress }: BenchmarkOptions): Promise<Measurement[]> {
  const root = await mkdtemp(join(tmpdir(), 'bench-skills-'));
  try {
    const measurements: Measurement[] = [];
    if (wants(ID)) {
      const loaded = await load(join(root, 'all'), '');
      const patterns = v8Patterns('');
      const subjects: [Subject, Subject] = [
        { id: 'v8.match1000', sample: async () => searchAll(patterns, '') },
        { id: ID, sample: async () => matchAll(loaded, '') },
      ];
      measurements.push(await measure(subjects, samples ?? ROUNDS, 'ratio ≤ 1', progress));
    }
    if (wants(FIRST)) measurements.push(await measureFirst(root, samples ?? FIRST_ROUNDS, progress));
    return measurements;
  } finally {
    await rm(root, { recursive: true, force: true });
  }
}

/** The first tasks after a load. Each round has its own patterns, so caches of earlier rounds do not help. */
async function measureFirst(root: string, rounds: number, progress: (text: string) => void): Promise<Measurement> {
  let loaded: SkillsSubsystem | undefined;
  let patterns: RegExp[] = [];
  let round = 0;
  const salt = (): string => `${round}x`;
  const baseline: Subject = {
    id: 'v8.match1000.first',
    prepare: async () => {
      round += 1;
      patterns = v8Patterns(salt());
    },
    sample: async () => searchAll(patterns, salt()),
  };
  const subject: Subject = {
    id: FIRST,
    prepare: async () => {
      loaded = await load(join(root, salt()), salt());
    },
    sample: async () => matchAll(loaded, salt()),
  };
  return measure([baseline, subject], rounds, null, progress);
}

async function measure(
  [baseline, subject]: [Subject, Subject],
  rounds: number,
  goal: string | null,
  progress: (text: string) => void,
): Promise<Measurement> {
  const values = await takeTurns([baseline, subject], rounds, progress);
  const valuesOf = ({ id }: Subject) => values.get(id) ?? [];
  return measurementOf({
    ...{ id: subject.id, unit: 'ms', goal, values: valuesOf(subject) },
    baseline: { id: baseline.id, values: valuesOf(baseline) },
  });
}

async function load(root: string, salt: string): Promise<SkillsSubsystem> {
  await writeTriggerSkills(root, COUNT, salt);
  const loaded = loadSkillsSubsystem({ roots: [{ kind: 'custom', path: root }] });
  if (loaded.skills.length !== COUNT || loaded.diagnostics.length > 0)
    throw new Error(`Cannot measure ${ID}: not all skills were loaded, got ${loaded.skills.length}.`);
  return loaded;
}

function v8Patterns(salt: string): RegExp[] {
  return Array.from({ length: COUNT }, (_, number) => triggerPatterns(number, salt))
    .flat()
    .map((source) => new RegExp(source, 'i'));
}

function searchAll(patterns: readonly RegExp[], salt: string): number {
  return timed(salt, (text) => patterns.filter((pattern) => pattern.test(text)).length);
}

function matchAll(loaded: SkillsSubsystem | undefined, salt: string): number {
  return timed(salt, (text) => loaded?.match(text, { max: COUNT }).matches.length ?? 0);
}

/** The total time of all tasks. */
function timed(salt: string, hitsIn: (text: string) => number): number {
  const texts = triggerTexts(salt);
  const started = performance.now();
  const hits = texts.map(hitsIn);
  const taken = performance.now() - started;
  if (hits.some((count) => count === 0)) throw new Error(`Cannot measure ${ID}: a task matched no skill, got ${hits}.`);
  return taken;
}
