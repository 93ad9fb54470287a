import { existsSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { expect, it } from 'vitest';
import type { DifferenceName } from '../../scripts/fidelity/differences-on-purpose.ts';
import type { Program, ProgramRun } from '../../scripts/fidelity/program.ts';
import { hostPlace } from '../../scripts/fidelity/plain-place.ts';
import { type JobLevel, openLevel } from '../../scripts/fidelity/run-as-job.ts';
import { missingForPlainRuns, runPlainly } from '../../scripts/fidelity/run-plainly.ts';
import { createLocalRunner } from '../../src/sandboxes/local/local-runner.ts';
import { MISSING_PYTHON, requireHere } from '../fixtures/describe-with.ts';
import { requireLevel } from '../fixtures/levels.ts';
import { CPYTHON_DIFFERENCES, CPYTHON_MODULES } from './cpython-modules.ts';

/** A file of the suite in Debian's package. */
const SUITE = '/usr/lib/python3.11/test/test_subprocess.py';
const PROGRAM = readFileSync(new URL('run-cpython-tests.py', import.meta.url), 'utf8');
const timeout = 60 * 60_000;
/** Limits that are high enough for each test of the suite. */
const limits = { memoryMib: 2_048, pids: 1_024, workspaceMib: 1_024, cpus: 2 };

function programOf(names: readonly string[]): Program {
  return {
    id: names.join(' '),
    language: 'python',
    fileName: 'main.py',
    code: PROGRAM,
    args: [...names],
    env: {},
    stdin: '',
    files: {},
    wholeStderr: false,
    onPurpose: undefined,
  };
}

function passed({ files }: ProgramRun): Set<string> {
  return new Set((files['passed.txt'] ?? '').split('\n').filter((id) => id !== ''));
}

/** Ids that pass on one side only, with the side. A second attempt excludes flaky tests. */
async function differingIds(level: JobLevel, names: readonly string[]): Promise<string[]> {
  const place = await hostPlace();
  const plain = new Set<string>();
  const job = new Set<string>();
  for (let attempt = 1; attempt <= 2; attempt += 1) {
    for (const id of passed(await runPlainly(programOf(names), place))) plain.add(id);
    for (const id of passed(await level.run(programOf(names)))) job.add(id);
    if (onOneSide(plain, job).length === 0) return [];
  }
  return onOneSide(plain, job);
}

function onOneSide(plain: ReadonlySet<string>, job: ReadonlySet<string>): string[] {
  return [
    ...[...plain].filter((id) => !job.has(id)).map((id) => `plain alone: ${id}`),
    ...[...job].filter((id) => !plain.has(id)).map((id) => `job alone: ${id}`),
  ];
}

function reasonFor(row: string): DifferenceName | undefined {
  return CPYTHON_DIFFERENCES.find(({ ids }) => ids.test(row))?.reason;
}

it("the passing tests of CPython's own suite pass in a job as well", { timeout }, async (context) => {
  requireHere(context, missingForPlainRuns() ?? MISSING_PYTHON);
  requireHere(context, existsSync(SUITE) ? undefined : 'libpython3.11-testsuite');
  requireLevel(context, 'namespace');
  const atOnce = availableParallelism();
  await using level = openLevel(createLocalRunner(), 'namespace', { languages: ['python'], atOnce, limits });
  const waiting = [...CPYTHON_MODULES];
  const found: string[] = [];
  const work = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const [name] = next;
      // A module whose run breaks off becomes a row. The comparison goes on with the other modules.
      found.push(...(await differingIds(level, next).catch((cause: Error) => [`${name}: ${cause.message}`])));
    }
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  expect(found.filter((row) => reasonFor(row) === undefined).toSorted()).toEqual([]);
});
