import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { BenchmarkGroup, BenchmarkOptions } from './benchmark-group.ts';
import { writeSkills } from './generate-skills.ts';
import { measurementOf, type Measurement } from './measurement.ts';
import { takeTurns } from './take-turns.ts';

const ID = 'library.start1000';
const BASELINE = 'library.start1000.empty';
const COUNT = 1_000;
const ROUNDS = 9;

const main = fileURLToPath(new URL('../bin/skillcell.js', import.meta.url));
const run = promisify(execFile);

/** `skillcell skills list` of 1,000 user skills with a cache that has their heads, against an empty cache. */
export const libraryStart: BenchmarkGroup = { ids: [ID], run: measure };

async function measure({ samples = ROUNDS, progress }: BenchmarkOptions): Promise<Measurement[]> {
  const folder = await mkdtemp(join(tmpdir(), 'bench-library-'));
  const cache = join(folder, 'cache');
  try {
    await writeSkills(join(folder, '.agents', 'skills'), COUNT);
    const list = async (cacheHome: string): Promise<number> => {
      const started = performance.now();
      const { stdout } = await run(
        process.execPath,
        [main, 'skills', 'list', '--sources', 'user', '--format', 'markdown'],
        {
          env: { HOME: folder, XDG_CACHE_HOME: cacheHome },
          maxBuffer: 64 * 1024 * 1024,
        },
      );
      const taken = performance.now() - started;
      const lines = stdout.split('\n').filter((line) => line.startsWith('- ')).length;
      if (lines !== COUNT) throw new Error(`Cannot measure ${ID}: not all skills were listed, got ${lines}.`);
      return taken;
    };
    await list(cache);
    const empty = join(folder, 'empty');
    const subjects = [
      { id: BASELINE, prepare: () => rm(empty, { recursive: true, force: true }), sample: () => list(empty) },
      { id: ID, sample: () => list(cache) },
    ];
    const values = await takeTurns(subjects, samples, progress);
    const baseline = { id: BASELINE, values: values.get(BASELINE) ?? [] };
    return [measurementOf({ id: ID, unit: 'ms', goal: 'ratio ≤ 0.5', values: values.get(ID) ?? [], baseline })];
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
