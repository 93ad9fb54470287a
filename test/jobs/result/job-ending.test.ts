import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createJobEnding, type JobEnding } from '../../../src/jobs/result/job-ending.ts';
import type { PreparedJob } from '../../../src/jobs/prepare/prepare-job.ts';
import type { HostMessage } from '../../../src/protocol/messages/messages.ts';
import type { SandboxSession } from '../../../src/jobs/supply/sandbox-session.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const JOB = { limits: { jobTimeoutMs: 1_000_000, graceMs: 100 } } as PreparedJob;

function playEnding(): { ending: JobEnding; sandbox: { heardAt: number }; sent: HostMessage[] } {
  const sent: HostMessage[] = [];
  const sandbox = { heardAt: 0, channel: { send: (message: HostMessage) => void sent.push(message) } };
  return {
    ending: createJobEnding(JOB, sandbox as unknown as SandboxSession, new AbortController().signal),
    sandbox,
    sent,
  };
}

it('cancels a sandbox that was told to end and stays silent', () => {
  const { ending, sandbox, sent } = playEnding();
  ending.awaitEnd();
  // A withdrawn approval no longer restarts the job's clock.
  ending.setClock(false);
  ending.setClock(true);
  sandbox.heardAt = performance.now() + 14_000;
  vi.advanceTimersByTime(15_500);
  expect(ending.canceledFor).toBeUndefined();
  vi.advanceTimersByTime(4_000);
  expect(ending.canceledFor).toBe('timeout');
  expect(sent).toEqual([{ type: 'cancel', reason: 'timeout' }]);
});

it('does not restart a clock after its release, when an approval is withdrawn after the end of its job', () => {
  const { ending } = playEnding();
  ending.setClock(false);
  ending.setClock(true);
  expect(vi.getTimerCount()).toBe(1);
  ending.setClock(false);
  ending.release();
  ending.setClock(true);
  expect(vi.getTimerCount()).toBe(0);
  vi.advanceTimersByTime(1_000_000);
  expect(ending.canceledFor).toBeUndefined();
});
