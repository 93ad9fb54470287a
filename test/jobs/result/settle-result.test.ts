import { expect, it } from 'vitest';
import { settleResult, type SettledRun } from '../../../src/jobs/result/settle-result.ts';
import type { Sandbox, SandboxExit } from '../../../src/sandboxes/runner.ts';

/** A run whose sandbox is gone, without a report. */
function goneWith(exit: SandboxExit, oomKills?: number | null): SettledRun {
  const usage = oomKills === undefined ? {} : { usage: () => ({ oomKills }) };
  const sandbox = { exited: Promise.resolve(exit), complaint: () => '', ...usage } as unknown as Sandbox;
  return {
    session: { sandbox } as SettledRun['session'],
    artifacts: { done: () => Promise.resolve() } as unknown as SettledRun['artifacts'],
    ending: { canceledFor: undefined },
  };
}

const exit = { cause: 'exit', oom: null, code: 137 } as const;
const closed = { kind: 'closed', error: undefined } as const;

it.each([
  ['its runner says so', goneWith({ ...exit, oom: true })],
  ['its counters have a kill for want of memory', goneWith(exit, 1)],
])('a sandbox that ended without a report was out of memory if %s', async (_, run) => {
  expect(await settleResult(closed, run)).toMatchObject({ outcome: 'out_of_memory', exitCode: null });
});

it.each([
  ['its runner denies it', goneWith({ ...exit, oom: false }, 0)],
  ['nothing is known', goneWith(exit, null)],
  ['it has no counters', goneWith(exit)],
])('a sandbox that ended without a report is lost if %s', async (_, run) => {
  await expect(settleResult(closed, run)).rejects.toMatchObject({ code: 'sandbox.lost' });
});
