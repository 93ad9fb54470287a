import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { askIndex } from '../src/library/search/ask-index.ts';
import { buildIndex } from '../src/library/search/build-index.ts';
import { findIndex, keepIndex } from '../src/library/search/kept-index.ts';
import { searchSkills } from '../src/library/search/search-skills.ts';
import { setDigest } from '../src/library/search/open-index.ts';
import type { Skill } from '../src/contracts/skills/skill.ts';
import { SkillsSubsystem } from '../src/skills/index.ts';
import { digestOf } from '../src/skills/text/digest.ts';
import type { BenchmarkGroup, BenchmarkOptions } from './benchmark-group.ts';
import { measurementOf, type Measurement } from './measurement.ts';
import { takeTurns } from './take-turns.ts';

const ID = 'library.search10k';
const REOPEN = `${ID}.reopen`;
const COUNT = 10_000;
const WORDS = 1_000;
const ROUNDS = 15;
const REOPENINGS = 5;

/**
 * Searching 10,000 skills of 1,000 words each, against a loop that looks for the same words with `includes`; and the first answer of a reopened
 * index, including the check of its bytes, against its build.
 */
export const searchSpeed: BenchmarkGroup = { ids: [ID, REOPEN], run };

async function run({ samples, wants, progress }: BenchmarkOptions): Promise<Measurement[]> {
  const cacheFolder = mkdtempSync(join(tmpdir(), 'bench-search-'));
  try {
    const { skills, questions } = generatedSkills();
    const subsystem = subsystemOf(skills);
    const measurements: Measurement[] = [];
    if (wants(ID))
      measurements.push(await answers(subsystem, questions, { cacheFolder, rounds: samples ?? ROUNDS, progress }));
    if (wants(REOPEN))
      measurements.push(await reopened(skills, questions, { cacheFolder, rounds: samples ?? REOPENINGS }));
    return measurements;
  } finally {
    rmSync(cacheFolder, { recursive: true, force: true });
  }
}

interface Round {
  cacheFolder: string;
  rounds: number;
}

async function answers(
  subsystem: SkillsSubsystem,
  questions: readonly string[],
  { cacheFolder, rounds, progress }: Round & { progress: (text: string) => void },
): Promise<Measurement> {
  const texts = subsystem.skills.map(({ id, fields, body }) => `${id}\n${fields.description}\n${body}`);
  const words = questions.map((question) => question.split(' '));
  const baseline = {
    id: 'loop.includes10k',
    sample: async () =>
      timed(() =>
        words.map((each) => texts.filter((text) => each.filter((word) => text.includes(word)).length > 0).length),
      ),
  };
  const subject = {
    id: ID,
    sample: async () => {
      const started = performance.now();
      for (const question of questions) await searchSkills(subsystem, question, { cacheFolder });
      return performance.now() - started;
    },
  };
  const values = await takeTurns([baseline, subject], rounds, progress);
  const valuesOf = (id: string): readonly number[] | { failed: string } => values.get(id) ?? [];
  return measurementOf({
    ...{ id: ID, unit: 'ms', goal: 'ratio ≤ 0.4', values: valuesOf(ID) },
    baseline: { id: baseline.id, values: valuesOf(baseline.id) },
  });
}

async function reopened(
  skills: readonly Skill[],
  questions: readonly string[],
  { cacheFolder, rounds }: Round,
): Promise<Measurement> {
  const folder = join(cacheFolder, 'reopened');
  mkdirSync(folder, { mode: 0o700 });
  const started = performance.now();
  const built = await buildIndex(skills);
  keepIndex(folder, setDigest(skills), built);
  const build = performance.now() - started;
  built.close();
  const words = new Set(questions[0]?.split(' '));
  const values: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    // A new list, so that its digest is computed again.
    const again = [...skills];
    values.push(
      timed(() => {
        const database = findIndex(folder, setDigest(again));
        if (database === undefined) throw new Error(`Cannot measure ${REOPEN}: the index is not kept.`);
        if (askIndex(database, words, { skills: COUNT, most: 10 }).found === 0)
          throw new Error(`Cannot measure ${REOPEN}: nothing is found.`);
      }),
    );
  }
  return measurementOf({
    id: REOPEN,
    unit: 'ms',
    goal: 'ratio ≤ 0.02',
    values,
    baseline: { id: 'its build', values: [build] },
  });
}

function timed(work: () => unknown): number {
  const started = performance.now();
  work();
  return performance.now() - started;
}

const SYLLABLES = 'ba ce di fo gu ha je ki lo mu na pe qui ro su ta ve wi xo ya zen tor mal'.split(' ');

/**
 * Word frequencies as in a language: the second word is half as frequent as the first, the third a third. Questions contain common and rare words.
 */
function generatedSkills(): { skills: Skill[]; questions: string[] } {
  let state = 1;
  const random = (): number => (state = (state * 1_664_525 + 1_013_904_223) >>> 0) / 2 ** 32;
  const vocabulary = Array.from({ length: 20_000 }, () => {
    const count = 2 + Math.floor(random() * 3);
    return Array.from({ length: count }, () => SYLLABLES[Math.floor(random() * SYLLABLES.length)]).join('');
  });
  const word = (): string => vocabulary[Math.floor(vocabulary.length ** random()) - 1] ?? 'ba';
  const text = (count: number): string => Array.from({ length: count }, word).join(' ');
  const skills = Array.from({ length: COUNT }, (_, number) =>
    skillOf(`custom.skill-${String(number).padStart(5, '0')}`, text(20), text(WORDS - 20)),
  );
  const questions = [3, 40, 300, 2_000, 9_000].map((rank) =>
    [0, 17, 170].map((more) => vocabulary[rank + more] ?? '').join(' '),
  );
  return { skills, questions };
}

function skillOf(id: string, description: string, body: string): Skill {
  const skillId = id.slice('custom.'.length);
  return {
    ...{ id, namespace: 'custom', skillId, name: skillId, rootKind: 'custom', root: 0, rootPath: '', dir: skillId },
    ...{ fields: { description }, extra: {}, body, brief: description, tools: [], sources: [], files: [] },
    digest: digestOf(body),
    diagnostics: [],
  };
}

function subsystemOf(skills: Skill[]): SkillsSubsystem {
  return new SkillsSubsystem({
    ...{ skills, diagnostics: [], agentsConfig: {}, overrides: [], customNamespaces: [] },
    ...{ customSkillsRoot: null, bundleRoot: null },
  });
}
