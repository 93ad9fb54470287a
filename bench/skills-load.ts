import { createHash } from 'node:crypto';
import { readFileSync, readdirSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'yaml';
import { loadSkillsSubsystem } from '../src/skills/index.ts';
import type { BenchmarkGroup, BenchmarkOptions } from './benchmark-group.ts';
import { SKILL_FILES, writeSkills } from './generate-skills.ts';
import { measurementOf, type Measurement } from './measurement.ts';
import { takeTurns } from './take-turns.ts';

const ID = 'skills.load1000';
const BASELINE = 'loop.load1000';
const COUNT = 1_000;
const ROUNDS = 15;

/** Loading 1,000 skills, beside a loop that only reads, hashes and parses the same files. */
export const skillsLoad: BenchmarkGroup = { ids: [ID], run };

async function run({ samples = ROUNDS, progress }: BenchmarkOptions): Promise<Measurement[]> {
  const root = await mkdtemp(join(tmpdir(), 'bench-skills-'));
  try {
    await writeSkills(root, COUNT);
    const subjects = [
      { id: BASELINE, sample: timed(() => loopThrough(root)) },
      { id: ID, sample: timed(() => loadSkillsSubsystem({ roots: [{ kind: 'custom', path: root }] }).skills.length) },
    ];
    const values = await takeTurns(subjects, samples, progress);
    const baseline = { id: BASELINE, values: values.get(BASELINE) ?? [] };
    return [measurementOf({ id: ID, unit: 'ms', goal: 'ratio ≤ 1.5', values: values.get(ID) ?? [], baseline })];
  } finally {
    await rm(root, { recursive: true, force: true });
  }
}

function timed(work: () => number): () => Promise<number> {
  return () => {
    const started = performance.now();
    const count = work();
    const taken = performance.now() - started;
    if (count !== COUNT) throw new Error(`Cannot measure ${ID}: not all skills were read, got ${count}.`);
    return Promise.resolve(taken);
  };
}

/** The least that any loader has to do. */
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
