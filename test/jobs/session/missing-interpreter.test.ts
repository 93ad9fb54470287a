import { expect, it } from 'vitest';
import { createOrchestrator } from '../../../src/jobs/create-orchestrator.ts';
import { MISSING_PYTHON } from '../../fixtures/describe-with.ts';

it('a run in a missing language does not affect the other languages', async ({ skip }) => {
  skip(MISSING_PYTHON === undefined, 'this machine has all languages; the bare pass does not');
  await using orchestrator = createOrchestrator({ allowUnisolated: true });
  await using session = await orchestrator.session({ isolation: 'none', runner: 'local' });
  expect(await session.run('const kept = 42; kept')).toMatchObject({ value: 42 });
  const missing = await session.run('1', { language: 'python' });
  expect(missing).toMatchObject({ outcome: 'failed', state: 'kept', epoch: 1, error: { name: 'InterpreterMissing' } });
  expect(await session.run('kept')).toMatchObject({ value: 42, state: 'kept', epoch: 1 });
});
