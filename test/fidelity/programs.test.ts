import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import type { Isolation } from '../../src/contracts/jobs/result.ts';
import { createDockerRunner } from '../../src/sandboxes/docker/docker-runner.ts';
import { createLocalRunner } from '../../src/sandboxes/local/local-runner.ts';
import type { Runner } from '../../src/sandboxes/runner.ts';
import { describeCompared } from '../../scripts/fidelity/describe-compared.ts';
import { differenceNames } from '../../scripts/fidelity/differences-on-purpose.ts';
import { hostPlace, openImagePlace, unisolatedPlace } from '../../scripts/fidelity/plain-place.ts';
import type { Program } from '../../scripts/fidelity/program.ts';
import { readPrograms } from '../../scripts/fidelity/read-programs.ts';
import { type ComparedLevel, runFidelity } from '../../scripts/fidelity/run-fidelity.ts';
import { missingForPlainRuns } from '../../scripts/fidelity/run-plainly.ts';
import { MISSING_PYTHON, requireHere } from '../fixtures/describe-with.ts';
import { dockerImage, MISSING_ENGINE } from '../fixtures/docker-image.ts';
import { KERNEL_RUNTIME, missingFor, startKernelEngine } from '../fixtures/kernel-engine.ts';
import { requireLevel } from '../fixtures/levels.ts';

const programs = readPrograms(fileURLToPath(new URL('programs', import.meta.url)));
/** Ends a hanging test. The time for hundreds of programs depends on the machine. */
const timeout = 60 * 60_000;

it('the programs cover all languages and each row of the table', () => {
  expect(programs.length).toBeGreaterThanOrEqual(400);
  expect(new Set(programs.map(({ id }) => id)).size).toBe(programs.length);
  expect(new Set(programs.map(({ language }) => language))).toEqual(
    new Set(['bash', 'javascript', 'python', 'typescript']),
  );
  const shown = new Set(programs.map(({ onPurpose }) => onPurpose));
  expect(differenceNames().filter((name) => !shown.has(name))).toEqual([]);
});

/**
 * Each level runs one of `every` programs: a start at another level takes as long as several starts at level namespace. The levels begin at different
 * programs, so that together they run more of them. `npm run fidelity` compares all programs at each level.
 */
const SAMPLES: Record<Isolation, { every: number; from: number }> = {
  namespace: { every: 2, from: 0 },
  none: { every: 8, from: 1 },
  container: { every: 12, from: 3 },
  kernel: { every: 32, from: 7 },
};

/** The programs that a level runs. */
function programsAt(isolation: Isolation): Program[] {
  const { every, from } = SAMPLES[isolation];
  return programs.filter((_, index) => index % every === from);
}

/** Programs with a difference that no row of the table explains, and skipped programs, as the command prints them. */
async function faultsAt(level: ComparedLevel, chosen = programsAt(level.isolation)): Promise<string[]> {
  const compared = await runFidelity(chosen, { levels: [level], atOnce: availableParallelism() });
  return compared.filter(({ verdict }) => verdict === 'differs' || verdict === 'skipped').map(describeCompared);
}

it('a program behaves at level none as without a sandbox', { timeout }, async (context) => {
  requireHere(context, missingForPlainRuns() ?? MISSING_PYTHON);
  const place = await unisolatedPlace();
  expect(await faultsAt({ openRunner: () => createLocalRunner(), isolation: 'none', place })).toEqual([]);
});

/** The Markdown file of a program. */
const topicOf = ({ id }: Program): string => id.replace(/#.*$/s, '');

it.for([...new Set(programs.map(topicOf))])(
  'the programs of %s behave at level namespace as without a sandbox',
  { timeout },
  async (topic, context) => {
    requireHere(context, missingForPlainRuns() ?? MISSING_PYTHON);
    requireLevel(context, 'namespace');
    const place = await hostPlace();
    const level: ComparedLevel = { openRunner: () => createLocalRunner(), isolation: 'namespace', place };
    const chosen = programsAt('namespace').filter((program) => topicOf(program) === topic);
    expect(await faultsAt(level, chosen)).toEqual([]);
  },
);

it(
  'a program behaves in a container as without a sandbox, with the kernel of the machine or its own kernel',
  { timeout },
  async (context) => {
    requireHere(context, missingForPlainRuns() ?? MISSING_ENGINE);
    const { bundle } = await dockerImage();
    await using place = await openImagePlace();
    const openRunner = (): Runner => createDockerRunner({ bundle });
    expect(await faultsAt({ openRunner, isolation: 'container', place })).toEqual([]);

    requireHere(context, missingFor(KERNEL_RUNTIME));
    await using engine = await startKernelEngine();
    const options = { host: engine.host, bundle, kernelRuntime: KERNEL_RUNTIME };
    expect(await faultsAt({ openRunner: () => createDockerRunner(options), isolation: 'kernel', place })).toEqual([]);
  },
);
