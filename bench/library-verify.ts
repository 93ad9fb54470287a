import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { verifySkills } from '../src/library/install/verify-skills.ts';
import { type LockedSkill, writeLock } from '../src/library/lock/format/lock-format.ts';
import { loadSkillsSubsystem } from '../src/skills/index.ts';
import type { BenchmarkGroup } from './benchmark-group.ts';
import { SKILL_FILES } from './generate-skills.ts';
import { COUNT, measureSkills } from './measure-skills.ts';

/** Comparing 1,000 skills with a lock file, against a loop that only reads and hashes the same files. */
export const libraryVerify: BenchmarkGroup = {
  ids: ['library.verify1000'],
  run: (options) =>
    measureSkills(
      {
        id: 'library.verify1000',
        baseline: 'loop.hash1000',
        goal: 'ratio ≤ 1.5',
        rounds: 25,
        expected: COUNT,
        open(folder) {
          const lockFile = join(folder, 'skillcell.lock.json');
          const root = join(folder, '.agents', 'skills');
          mkdirSync(join(folder, '.agents'));
          renameSync(join(folder, 'skills'), root);
          writeFileSync(lockFile, writeLock(lockOf(root)));
          return Promise.resolve({
            work: async () =>
              (await verifySkills({ lockFile }))?.filter(({ deviations }) => deviations.length === 0).length ?? 0,
            least: () => loopThrough(root) / SKILL_FILES.length,
          });
        },
      },
      options,
    ),
};

function lockOf(root: string): Map<string, LockedSkill> {
  const { skills } = loadSkillsSubsystem({ roots: [{ kind: 'user', path: root }] });
  return new Map(
    skills.map(({ id, dir, digest, files }) => {
      const origin = { type: 'directory' as const, source: '../source', folder: dir };
      return [id, { id, version: null, place: `.agents/skills/${dir}`, origin, digest, files, approval: null }];
    }),
  );
}

/** The minimal work to notice changed bytes. */
function loopThrough(folder: string): number {
  let files = 0;
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = `${folder}/${entry.name}`;
    if (entry.isDirectory()) files += loopThrough(path);
    else files += createHash('sha256').update(readFileSync(path)).digest('hex').length / 64;
  }
  return files;
}
