import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { verifySkills } from '../src/library/install/verify-skills.ts';
import { type LockedSkill, writeLock } from '../src/library/lock/lock-format.ts';
import { loadSkillsSubsystem } from '../src/skills/index.ts';
import type { BenchmarkGroup, BenchmarkOptions } from './benchmark-group.ts';
import { SKILL_FILES, writeSkills } from './generate-skills.ts';
import { measurementOf, type Measurement } from './measurement.ts';
import { takeTurns } from './take-turns.ts';

const ID = 'library.verify1000';
const BASELINE = 'loop.hash1000';
const COUNT = 1_000;
const ROUNDS = 25;

/** Comparing 1,000 skills with a lock file, beside a loop that only reads and hashes the same files. */
export const libraryVerify: BenchmarkGroup = { ids: [ID], run };

async function run({ samples = ROUNDS, progress }: BenchmarkOptions): Promise<Measurement[]> {
  const folder = await mkdtemp(join(tmpdir(), 'bench-verify-'));
  const lockFile = join(folder, 'skillcell.lock.json');
  const root = join(folder, '.agents', 'skills');
  try {
    mkdirSync(join(folder, '.agents'));
    await writeSkills(join(folder, 'skills'), COUNT);
    renameSync(join(folder, 'skills'), root);
    writeFileSync(lockFile, writeLock(lockOf(root)));
    const verify = async (): Promise<number> =>
      (await verifySkills({ lockFile }))?.filter(({ deviations }) => deviations.length === 0).length ?? 0;
    const subjects = [
      { id: BASELINE, sample: timed(async () => loopThrough(root) / SKILL_FILES.length) },
      { id: ID, sample: timed(verify) },
    ];
    const values = await takeTurns(subjects, samples, progress);
    const baseline = { id: BASELINE, values: values.get(BASELINE) ?? [] };
    return [measurementOf({ id: ID, unit: 'ms', goal: 'ratio ≤ 1.5', values: values.get(ID) ?? [], baseline })];
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function lockOf(root: string): Map<string, LockedSkill> {
  const { skills } = loadSkillsSubsystem({ roots: [{ kind: 'user', path: root }] });
  return new Map(
    skills.map(({ id, dir, digest, files }) => {
      const origin = { type: 'directory' as const, source: '../source', folder: dir };
      return [id, { id, version: null, place: `.agents/skills/${dir}`, origin, digest, files, approval: null }];
    }),
  );
}

function timed(work: () => Promise<number>): () => Promise<number> {
  return async () => {
    const started = performance.now();
    const count = await work();
    const taken = performance.now() - started;
    if (count !== COUNT) throw new Error(`Cannot measure ${ID}: not all skills are as they are locked, got ${count}.`);
    return taken;
  };
}

/** The least that tells whether bytes have changed. */
function loopThrough(folder: string): number {
  let files = 0;
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = `${folder}/${entry.name}`;
    if (entry.isDirectory()) files += loopThrough(path);
    else files += createHash('sha256').update(readFileSync(path)).digest('hex').length / 64;
  }
  return files;
}
