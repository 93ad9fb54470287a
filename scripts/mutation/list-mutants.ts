import { createHash } from 'node:crypto';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Instrumenter } from '@stryker-mutator/instrumenter';

/** One change of one place of the sources. */
export interface Mutant {
  /** Path from the root of the checkout. */
  file: string;
  /** Counts from 1. */
  line: number;
  /** Start and end of the changed text in the file. */
  start: number;
  end: number;
  /** Kind of the change. */
  mutator: string;
  original: string;
  replacement: string;
  /** Number of earlier changes of the same text in the same file. */
  nth: number;
}

/** Mutated folders: all code that controls user code or produces results. */
export const MUTATED: readonly string[] = [
  'src/models',
  'src/tools',
  'src/protocol',
  'src/jobs',
  'src/sandboxes',
  'src/library',
  'src/skills/load',
  'src/skills/select',
  'src/skills/descriptor',
  'runtime',
];

/** Texts are messages and names; other changes of the same line cover their use. */
const EXCLUDED = ['StringLiteral'];

/** The sources that match some patterns, or lie below some folders. */
export function listSources(root: string, patterns: readonly string[]): string[] {
  return globSync(
    patterns.flatMap((pattern) => [pattern, `${pattern}/**/*.ts`]),
    { cwd: root },
  )
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.d.ts'))
    .toSorted();
}

/** Every mutant of some files, as Stryker makes them. */
export async function listMutants(root: string, files: readonly string[]): Promise<Mutant[]> {
  // It needs a logger for its progress, which is ignored.
  const silent = new Proxy({}, { get: () => () => false }) as ConstructorParameters<typeof Instrumenter>[0];
  const instrumenter = new Instrumenter(silent);
  const options = { plugins: null, excludedMutations: EXCLUDED, ignorers: [], noHeader: true, mutator: {} };
  const mutants: Mutant[] = [];
  for (const file of files) {
    const content = readFileSync(join(root, file), 'utf8');
    const offsets = lineOffsets(content);
    const found = await instrumenter.instrument([{ name: file, content, mutate: true }], options);
    const seen = new Map<string, number>();
    for (const { location, mutatorName, replacement, status } of found.mutants) {
      if (status === 'Ignored') continue;
      const start = (offsets[location.start.line] ?? 0) + location.start.column;
      const end = (offsets[location.end.line] ?? 0) + location.end.column;
      const original = content.slice(start, end);
      const key = `${mutatorName} ${original} ${replacement}`;
      const nth = seen.get(key) ?? 0;
      seen.set(key, nth + 1);
      const line = location.start.line + 1;
      mutants.push({ file, line, start, end, mutator: mutatorName, original, replacement: replacement ?? '', nth });
    }
  }
  return mutants;
}

/** A sample by a seed: the mutants with the lowest digests, so that a change elsewhere in the sources keeps the others in the sample. */
export function sampleOf(mutants: readonly Mutant[], seed: string, size: number): Mutant[] {
  const rank = (mutant: Mutant): string =>
    createHash('sha256')
      .update(JSON.stringify([seed, mutant.file, mutant.mutator, mutant.original, mutant.replacement, mutant.nth]))
      .digest('hex');
  const ranked = mutants.map((mutant) => [rank(mutant), mutant] as const);
  return ranked
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .slice(0, size)
    .map(([, mutant]) => mutant);
}

function lineOffsets(content: string): number[] {
  const offsets = [0];
  for (let at = content.indexOf('\n'); at !== -1; at = content.indexOf('\n', at + 1)) offsets.push(at + 1);
  return offsets;
}
