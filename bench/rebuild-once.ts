/** Rebuilds skills as a sandbox does, once in a new process and then again, and prints the times. */
import { readFileSync } from 'node:fs';
import type { SkillTrees } from '../src/contracts/skills/skill.ts';
import { setUnchecked } from '../src/skills/load-subsystem.ts';

/** A descriptor and its bytes, in base64. */
export interface RebuildInput {
  descriptor: unknown;
  trees: [id: string, files: [path: string, base64: string, executable: boolean][]][];
}

/** The output. */
export interface RebuildReport {
  coldMs: number;
  /** Median of the later times. */
  warmMs: number;
}

const LATER = 21;
const { descriptor, trees } = JSON.parse(readFileSync(process.argv[2] ?? '', 'utf8')) as RebuildInput;
const arrived: SkillTrees = new Map(
  trees.map(([id, files]) => [
    id,
    new Map(files.map(([path, base64, executable]) => [path, { bytes: Buffer.from(base64, 'base64'), executable }])),
  ]),
);
const coldMs = timed();
const later = Array.from({ length: LATER }, timed).toSorted((a, b) => a - b);
process.stdout.write(`${JSON.stringify({ coldMs, warmMs: later[(LATER - 1) / 2] ?? 0 } satisfies RebuildReport)}\n`);

function timed(): number {
  const started = performance.now();
  const { skills } = setUnchecked(descriptor, { arrived });
  const taken = performance.now() - started;
  if (skills.length !== trees.length) throw new Error(`Cannot measure: skills are missing, got ${skills.length}.`);
  return taken;
}
