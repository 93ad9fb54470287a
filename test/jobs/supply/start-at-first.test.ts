import { expect, it } from 'vitest';
import { SkillcellError } from '../../../src/contracts/errors/skillcell-error.ts';
import { createOrchestrator } from '../../../src/jobs/create-orchestrator.ts';
import type { Runner } from '../../../src/sandboxes/runner.ts';
import { createPlainRunner } from '../../fixtures/plain-runner.ts';

/** A runner that records calls of `reach`, and whose sandboxes start or fail to start. */
function named(name: string, asked: string[], starts: boolean): Runner {
  const plain = createPlainRunner();
  return {
    ...plain,
    name,
    async reach() {
      asked.push(name);
    },
    start(spec, options) {
      if (starts) return plain.start(spec, options);
      throw new SkillcellError('runner.unavailable', `Cannot start a sandbox: ${name} is not there.`);
    },
  };
}

it.each([
  ['each but the last, which has no deadline', [false, false, true], ['a', 'b']],
  ['none after the first that starts', [true, true, true], ['a']],
  ['not the only runner', [true], []],
])('checks whether a runner can be reached: %s', async (_name, starts, expected) => {
  const asked: string[] = [];
  const runners = starts.map((start, index) => named('abc'[index] ?? '', asked, start));
  await using orchestrator = createOrchestrator({ runners, allowUnisolated: true });
  const result = await orchestrator.exec({ language: 'javascript', code: 'export default 1' });
  expect(result.outcome).toBe('succeeded');
  expect(asked).toEqual(expected);
});
