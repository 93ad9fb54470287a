import { createHash } from 'node:crypto';
import { readFileSync, readdirSync } from 'node:fs';
import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readFolder } from '../src/scan/read/read-folder.ts';
import { scanSources } from '../src/scan/scan-sources.ts';
import type { BenchmarkGroup, BenchmarkOptions } from './benchmark-group.ts';
import { SKILL_FILES, writeSkills } from './generate-skills.ts';
import { measurementOf, type Measurement } from './measurement.ts';
import { takeTurns } from './take-turns.ts';

const ID = 'library.scan1000';
const BASELINE = 'loop.hash1000';
const COUNT = 1_000;
const ROUNDS = 15;

/** Scanning 1,000 skills, beside a loop that only reads and hashes the same files. */
export const libraryScan: BenchmarkGroup = { ids: [ID], run };

async function run({ samples = ROUNDS, progress }: BenchmarkOptions): Promise<Measurement[]> {
  const root = await realpath(await mkdtemp(join(tmpdir(), 'bench-scan-')));
  try {
    await writeSkills(root, COUNT);
    const subjects = [
      { id: BASELINE, sample: timed(() => loopThrough(root)) },
      { id: ID, sample: timed(() => scanned(root)) },
    ];
    const values = await takeTurns(subjects, samples, progress);
    const baseline = { id: BASELINE, values: values.get(BASELINE) ?? [] };
    return [measurementOf({ id: ID, unit: 'ms', goal: 'ratio ≤ 8', values: values.get(ID) ?? [], baseline })];
  } finally {
    await rm(root, { recursive: true, force: true });
  }
}

/** Takes the time; both have to see the same bytes. */
function timed(work: () => number): () => Promise<number> {
  let expected: number | undefined;
  return () => {
    const started = performance.now();
    const bytes = work();
    const taken = performance.now() - started;
    if (bytes === 0 || bytes !== (expected ??= bytes))
      throw new Error(`Cannot measure ${ID}: other bytes, got ${bytes}.`);
    return Promise.resolve(taken);
  };
}

function scanned(root: string): number {
  let bytes = 0;
  for (const { scannedBytes } of scanSources(readFolder(root))) bytes += scannedBytes;
  return bytes;
}

/** The least that any scanner has to do. */
function loopThrough(root: string): number {
  let bytes = 0;
  for (const name of readdirSync(root)) {
    for (const path of SKILL_FILES) {
      const content = readFileSync(join(root, name, path));
      createHash('sha256').update(content).digest('hex');
      bytes += content.length;
    }
  }
  return bytes;
}
