import { expect, it } from 'vitest';
import { SkillcellError } from '../../../src/contracts/errors/skillcell-error.ts';
import { createOrchestrator } from '../../../src/jobs/create-orchestrator.ts';
import { createLocalRunner } from '../../../src/sandboxes/local/local-runner.ts';
import type { Runner } from '../../../src/sandboxes/runner.ts';

/** A runner whose levels this machine cannot reach. Tests need two: a single error would be thrown as it is. */
function unmet(name: string): Runner {
  return {
    ...createLocalRunner(),
    name,
    levels: ['namespace', 'kernel'],
    advice: { namespace: 'Install the walls.', kernel: 'Install the kernel.' },
    start: () => Promise.reject(new SkillcellError('runner.isolation-unmet', `No ${name}.`, { hint: 'Look.' })),
  };
}

it.each([
  ['namespace', 'Look. Install the walls.'],
  ['kernel', 'Look. Install the kernel.'],
] as const)('gives the advice of the runners for level %s, and not for a weaker one', async (isolation, hint) => {
  await using orchestrator = createOrchestrator({ runners: [unmet('walls'), unmet('fence')] });
  const refused = orchestrator.exec({ code: '1', isolation });
  await expect(refused).rejects.toMatchObject({ code: 'runner.isolation-unmet', hint });
});
