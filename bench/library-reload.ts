import { lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { openSkillLibrary } from '../src/library/open-skill-library.ts';
import { openTreeCache } from '../src/library/stores/cache/tree-cache.ts';
import { createDirectoryStore } from '../src/library/stores/directory/directory-store.ts';
import type { BenchmarkGroup } from './benchmark-group.ts';
import { SKILL_FILES } from './generate-skills.ts';
import { COUNT, measureSkills } from './measure-skills.ts';

/** Checking an unchanged folder of 1,000 skills for changes, against a loop that only lists folders and stats their files. */
export const libraryReload: BenchmarkGroup = {
  ids: ['library.reload1000'],
  run: (options) =>
    measureSkills(
      {
        id: 'library.reload1000',
        baseline: 'loop.lstat1000',
        goal: 'ratio ≤ 1.5',
        rounds: 25,
        expected: COUNT,
        async open(folder) {
          const root = join(folder, 'skills');
          const cacheDir = join(folder, 'cache');
          const store = createDirectoryStore({ path: root, kind: 'user', cache: openTreeCache(cacheDir) });
          const library = await openSkillLibrary({ stores: [store], cacheDir });
          return {
            work: async () => ((await library.refresh()) ? Number.NaN : (await library.heads()).length),
            least: () => loopThrough(root) / SKILL_FILES.length,
            close: () => library.close(),
          };
        },
      },
      options,
    ),
};

/** The minimal work to notice a changed file below a folder. */
function loopThrough(folder: string): number {
  let files = 0;
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = `${folder}/${entry.name}`;
    if (entry.isDirectory()) files += loopThrough(path);
    else if (lstatSync(path).isFile()) files += 1;
  }
  return files;
}
