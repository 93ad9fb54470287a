import { createHash } from 'node:crypto';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { loadSkillsSubsystem } from '../src/skills/index.ts';
import type { BenchmarkGroup } from './benchmark-group.ts';
import { SKILL_FILES } from './generate-skills.ts';
import { COUNT, measureSkills } from './measure-skills.ts';

/** Loading 1,000 skills, against a loop that only reads, hashes and parses the same files. */
export const skillsLoad: BenchmarkGroup = {
  ids: ['skills.load1000'],
  run: (options) =>
    measureSkills(
      {
        id: 'skills.load1000',
        baseline: 'loop.load1000',
        goal: 'ratio ≤ 1.5',
        rounds: 15,
        expected: COUNT,
        open(folder) {
          const path = join(folder, 'skills');
          return Promise.resolve({
            work: () => loadSkillsSubsystem({ roots: [{ kind: 'custom', path }] }).skills.length,
            least: () => loopThrough(path),
          });
        },
      },
      options,
    ),
};

/** The minimal work of any loader. */
function loopThrough(root: string): number {
  let count = 0;
  const digests: string[] = [];
  const parsed: unknown[] = [];
  for (const name of readdirSync(root)) {
    for (const path of SKILL_FILES) {
      const bytes = readFileSync(join(root, name, path));
      digests.push(createHash('sha256').update(bytes).digest('hex'));
      if (path === 'SKILL.md') {
        const text = bytes.toString('utf8');
        parsed.push(parse(text.slice(4, text.indexOf('\n---', 4))));
      } else if (path === 'tools.yaml') parsed.push(parse(bytes.toString('utf8')));
    }
    count += 1;
  }
  return digests.length === count * SKILL_FILES.length && parsed.length === count * 2 ? count : Number.NaN;
}
