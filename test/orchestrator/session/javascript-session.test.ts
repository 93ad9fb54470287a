import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Session, SessionRun } from '../../../src/contracts/session.ts';
import { createOrchestrator } from '../../../src/orchestrator/create-orchestrator.ts';
import type { Orchestrator } from '../../../src/orchestrator/orchestrator.ts';
import { createLocalRunner } from '../../../src/runners/local/local-runner.ts';
import { BEST_LEVEL } from '../../fixtures/levels.ts';

let orchestrator: Orchestrator;
beforeAll(() => {
  orchestrator = createOrchestrator({ runners: [createLocalRunner()], allowUnisolated: true });
});
afterAll(() => orchestrator.close());

/** What a run that hangs is stopped after: none of these may. */
const limits = { runTimeoutMs: 20_000 };
const open = (): Promise<Session> => orchestrator.session({ isolation: BEST_LEVEL, limits });

/** Runs pieces one after the other in a session of their own. */
async function runAll(pieces: string[], language?: 'typescript'): Promise<SessionRun[]> {
  await using session = await open();
  const runs: SessionRun[] = [];
  for (const code of pieces) runs.push(await session.run(code, language && { language }));
  return runs;
}

describe('values', () => {
  it.each([
    ['[, 1]', '[ <1 empty item>, 1 ]'],
    ['({ a: undefined })', '{ a: undefined }'],
    ['-0', '-0'],
    ['[-0]', '[ -0 ]'],
    ['({ ["__proto__"]: 1 })', "{ ['__proto__']: 1 }"],
    ['Object.assign([1], { more: 2 })', '[ 1, more: 2 ]'],
    ['({ toJSON: () => 1 })', '{ toJSON: [Function: toJSON] }'],
    ['({ when: new Date(0) })', '{ when: 1970-01-01T00:00:00.000Z }'],
  ])('that JSON would change are shown as text: %s', async (code, text) => {
    const [run] = await runAll([code]);
    expect(run).not.toHaveProperty('value');
    expect(run).toMatchObject({ outcome: 'succeeded', results: [{ data: { 'text/plain': text } }], diagnostics: [] });
  });

  it.each([
    '[]',
    '{}',
    '[0, 1.5, -1e-7, 1e300, true, null, "a\\"\\n\\ud800"]',
    '{ "a b": { "c": [[{ }]] }, "2": 3, "1": "" }',
  ])('that JSON says all of are values: %s', async (code) => {
    const [run] = await runAll([`(${code})`]);
    expect(run).toMatchObject({ outcome: 'succeeded', results: [], diagnostics: [] });
    expect(run?.value).toEqual(JSON.parse(code));
  });
});

it('a program that is waited for without an event loop ends with the run', async () => {
  await using session = await open();
  const waiting = 'require("node:child_process").execSync("sleep 300; true")';
  expect(await session.run(`const kept = 1; ${waiting}`, { timeoutMs: 500 })).toMatchObject({
    outcome: 'timeout',
    state: 'kept',
  });
  expect(await session.run('1')).toMatchObject({ value: 1, epoch: 1 });
});
