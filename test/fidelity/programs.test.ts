import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import type { Isolation } from '../../src/contracts/result.ts';
import { createDockerRunner } from '../../src/runners/docker/docker-runner.ts';
import { createLocalRunner } from '../../src/runners/local/local-runner.ts';
import type { Runner } from '../../src/runners/runner.ts';
import { describeCompared } from '../../scripts/fidelity/describe-compared.ts';
import { differenceNames } from '../../scripts/fidelity/differences-on-purpose.ts';
import type { Program, ProgramRun } from '../../scripts/fidelity/program.ts';
import { readPrograms } from '../../scripts/fidelity/read-programs.ts';
import { runFidelity } from '../../scripts/fidelity/run-fidelity.ts';
import { missingForPlainRuns } from '../../scripts/fidelity/run-plainly.ts';
import { MISSING_PYTHON, requireHere } from '../fixtures/describe-with.ts';
import { dockerImage, MISSING_ENGINE } from '../fixtures/docker-image.ts';
import { KERNEL_RUNTIME, missingFor, startKernelEngine } from '../fixtures/kernel-engine.ts';
import { requireLevel } from '../fixtures/levels.ts';

const programs = readPrograms(fileURLToPath(new URL('programs', import.meta.url)));
/** Plain runs are the same for all levels. */
const plainRuns = new Map<string, Promise<ProgramRun>>();
/** For what never ends: how long hundreds of programs take is the machine's. */
const timeout = 60 * 60_000;

/** What differs for no reason of the table, as the command would print it. */
async function faultsAt(isolation: Isolation, openRunner: () => Runner, chosen: readonly Program[]): Promise<string[]> {
  const levels = [{ openRunner, isolation }];
  const compared = await runFidelity(chosen, { levels, atOnce: availableParallelism(), plainRuns });
  return compared.filter(({ verdict }) => verdict === 'differs' || verdict === 'skipped').map(describeCompared);
}

it('the programs are many, in all languages, and show each row of the table', () => {
  expect(programs.length).toBeGreaterThanOrEqual(400);
  expect(new Set(programs.map(({ id }) => id)).size).toBe(programs.length);
  expect(new Set(programs.map(({ language }) => language))).toEqual(
    new Set(['bash', 'javascript', 'python', 'typescript']),
  );
  const shown = new Set(programs.map(({ onPurpose }) => onPurpose));
  expect(differenceNames().filter((name) => !shown.has(name))).toEqual([]);
});

it.for(['none', 'namespace'] as const)('a program at level %s is the program', { timeout }, async (level, context) => {
  requireHere(context, missingForPlainRuns() ?? MISSING_PYTHON);
  requireLevel(context, level);
  expect(await faultsAt(level, () => createLocalRunner(), programs)).toEqual([]);
});

it('a program in a container is the program', { timeout }, async (context) => {
  requireHere(context, missingForPlainRuns() ?? MISSING_PYTHON ?? MISSING_ENGINE);
  const { bundle } = await dockerImage();
  expect(await faultsAt('container', () => createDockerRunner({ bundle }), programs)).toEqual([]);
});

it('a program with a kernel of its own is the program', { timeout }, async (context) => {
  requireHere(context, missingForPlainRuns() ?? MISSING_PYTHON ?? missingFor(KERNEL_RUNTIME));
  await using engine = await startKernelEngine();
  const { bundle } = await dockerImage();
  const options = { host: engine.host, bundle, kernelRuntime: KERNEL_RUNTIME };
  // Each start there takes as long as several elsewhere; the command runs them all.
  const some = programs.filter((_, index) => index % 8 === 0);
  expect(await faultsAt('kernel', () => createDockerRunner(options), some)).toEqual([]);
});
