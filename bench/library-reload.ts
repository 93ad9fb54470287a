import { lstatSync, readdirSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openSkillLibrary } from '../src/library/open-skill-library.ts';
import { openTreeCache } from '../src/stores/cache/tree-cache.ts';
import { createDirectoryStore } from '../src/stores/directory/directory-store.ts';
import type { BenchmarkGroup, BenchmarkOptions } from './benchmark-group.ts';
import { SKILL_FILES, writeSkills } from './generate-skills.ts';
import { measurementOf, type Measurement } from './measurement.ts';
import { takeTurns } from './take-turns.ts';

const ID = 'library.reload1000';
const BASELINE = 'loop.lstat1000';
const COUNT = 1_000;
const ROUNDS = 25;

/** Looking whether a folder of 1,000 skills has changed, which it has not, beside a loop that only lists folders and looks at their files. */
export const libraryReload: BenchmarkGroup = { ids: [ID], run };

async function run({ samples = ROUNDS, progress }: BenchmarkOptions): Promise<Measurement[]> {
  const folder = await mkdtemp(join(tmpdir(), 'bench-library-'));
  const root = join(folder, 'skills');
  try {
    await writeSkills(root, COUNT);
    const cacheDir = join(folder, 'cache');
    const store = createDirectoryStore({ path: root, kind: 'user', cache: openTreeCache(cacheDir) });
    await using library = await openSkillLibrary({ stores: [store], cacheDir });
    const subjects = [
      { id: BASELINE, sample: timed(async () => loopThrough(root) / SKILL_FILES.length) },
      { id: ID, sample: timed(async () => ((await library.refresh()) ? Number.NaN : (await library.heads()).length)) },
    ];
    const values = await takeTurns(subjects, samples, progress);
    const baseline = { id: BASELINE, values: values.get(BASELINE) ?? [] };
    return [measurementOf({ id: ID, unit: 'ms', goal: 'ratio ≤ 1.5', values: values.get(ID) ?? [], baseline })];
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function timed(work: () => Promise<number>): () => Promise<number> {
  return async () => {
    const started = performance.now();
    const count = await work();
    const taken = performance.now() - started;
    if (count !== COUNT) throw new Error(`Cannot measure ${ID}: not all skills were looked at, got ${count}.`);
    return taken;
  };
}

/** The least that tells whether a file below a folder has changed. */
function loopThrough(folder: string): number {
  let files = 0;
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = `${folder}/${entry.name}`;
    if (entry.isDirectory()) files += loopThrough(path);
    else if (lstatSync(path).isFile()) files += 1;
  }
  return files;
}
