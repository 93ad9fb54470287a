import { createHash } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Bench } from 'tinybench';
import { loadSkillsSubsystem } from '../src/skills/index.ts';
import type { BenchmarkGroup, BenchmarkOptions } from './benchmark-group.ts';
import { fiveSkills, writeSkills } from './generate-skills.ts';
import { measurementOf, type Measurement } from './measurement.ts';

const RENDER = 'skills.render5';
const CATALOG = 'skills.catalog1000';
const SAMPLES = 300;

interface Pair {
  id: string;
  goal: string;
  /** Work on the same texts that any implementation has to do. */
  baseline: { id: string; work: () => unknown };
  work: () => unknown;
}

/** The cost of a turn with loaded skills: rendering the needed skills, and listing all of them. */
export const skillsPrompt: BenchmarkGroup = { ids: [RENDER, CATALOG], run };

async function run({ samples = SAMPLES, wants, progress }: BenchmarkOptions): Promise<Measurement[]> {
  const root = await mkdtemp(join(tmpdir(), 'bench-skills-'));
  const five = await fiveSkills();
  try {
    await writeSkills(root, 1_000);
    const thousand = loadSkillsSubsystem({ roots: [{ kind: 'custom', path: root }] });
    const bodies = five.subsystem.skills.map(({ body }) => body);
    const rows = thousand.skills.map(({ id, name, brief }) => ({ id, name, brief }));
    const pairs: Pair[] = [
      {
        id: RENDER,
        goal: 'median ≤ 1 ms',
        baseline: { id: 'join-and-hash.5', work: () => createHash('sha256').update(bodies.join('\n\n')).digest('hex') },
        work: () => five.subsystem.buildSkillsInstructionBlock({ refs: five.ids }).sha256,
      },
      {
        id: CATALOG,
        goal: 'median ≤ 20 ms',
        baseline: { id: 'json.1000', work: () => JSON.stringify(rows) },
        work: () => thousand.skillsGalleryText().text,
      },
    ];
    const measurements: Measurement[] = [];
    for (const pair of pairs) if (wants(pair.id)) measurements.push(await measure(pair, samples, progress));
    return measurements;
  } finally {
    await Promise.all([five.remove(), rm(root, { recursive: true, force: true })]);
  }
}

async function measure(pair: Pair, samples: number, progress: (text: string) => void): Promise<Measurement> {
  const bench = new Bench({ time: 0, iterations: samples, warmupIterations: 20, retainSamples: true, throws: true });
  bench.add(pair.baseline.id, pair.baseline.work).add(pair.id, pair.work);
  const [baseline, own] = await bench.run();
  const valuesOf = (task: typeof own): readonly number[] => {
    const { result } = task ?? {};
    if (result?.state !== 'completed' || result.latency.samples === undefined) {
      throw new Error(`Cannot measure ${pair.id}: the run did not end, got ${result?.state}.`);
    }
    return result.latency.samples;
  };
  progress(`${pair.id}: ${valuesOf(own).length} samples`);
  return measurementOf({
    id: pair.id,
    unit: 'ms',
    goal: pair.goal,
    values: valuesOf(own),
    baseline: { id: pair.baseline.id, values: valuesOf(baseline) },
  });
}
