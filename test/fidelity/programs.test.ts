import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { createLocalRunner } from '../../src/runners/local/local-runner.ts';
import { describeCompared } from '../../scripts/fidelity/describe-compared.ts';
import { differenceNames } from '../../scripts/fidelity/differences-on-purpose.ts';
import { readPrograms } from '../../scripts/fidelity/read-programs.ts';
import { runFidelity } from '../../scripts/fidelity/run-fidelity.ts';
import { missingForPlainRuns } from '../../scripts/fidelity/run-plainly.ts';
import { MISSING_PYTHON, requireHere } from '../fixtures/describe-with.ts';
import { requireLevel } from '../fixtures/levels.ts';

const programs = readPrograms(fileURLToPath(new URL('programs', import.meta.url)));
/** For what never ends: how long hundreds of programs take is the machine's. */
const timeout = 60 * 60_000;

it('the programs are many, in all languages, and show each row of the table', () => {
  expect(programs.length).toBeGreaterThanOrEqual(400);
  expect(new Set(programs.map(({ id }) => id)).size).toBe(programs.length);
  expect(new Set(programs.map(({ language }) => language))).toEqual(
    new Set(['bash', 'javascript', 'python', 'typescript']),
  );
  const shown = new Set(programs.map(({ onPurpose }) => onPurpose));
  expect(differenceNames().filter((name) => !shown.has(name))).toEqual([]);
});

it('a program at level namespace is the program', { timeout }, async (context) => {
  requireHere(context, missingForPlainRuns() ?? MISSING_PYTHON);
  requireLevel(context, 'namespace');
  const levels = [{ openRunner: () => createLocalRunner(), isolation: 'namespace' as const }];
  const compared = await runFidelity(programs, { levels, atOnce: availableParallelism() });
  const faults = compared.filter(({ verdict }) => verdict === 'differs' || verdict === 'skipped');
  expect(faults.map(describeCompared)).toEqual([]);
});
