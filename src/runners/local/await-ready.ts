import { SkillcellError } from '../../contracts/skillcell-error.ts';
import { createChannel } from '../../protocol/channel.ts';
import { withinDeadline } from '../../protocol/within-deadline.ts';
import type { Sandbox } from '../runner.ts';

const READY_MS = 10_000;

/** Waits until the entry of a fresh sandbox has said that it and its executor are ready. */
export async function awaitReady(sandbox: Sandbox, signal: AbortSignal): Promise<void> {
  const { promise: ready, resolve, reject } = Promise.withResolvers<void>();
  createChannel(sandbox.channel, {
    onMessage: () => resolve(),
    onClose: () => void sandbox.exited.then(() => reject(failure(sandbox, 'it ended at once'))),
  });
  await withinDeadline(ready, {
    limitMs: READY_MS,
    overdue() {
      throw failure(sandbox, `it did not answer within ${READY_MS / 1000} s`);
    },
    signal,
  });
}

function failure(sandbox: Sandbox, reason: string): SkillcellError {
  const said = sandbox.complaint().trim();
  return new SkillcellError(
    'sandbox.start-failed',
    `Cannot start a sandbox: ${reason}${said === '' ? '' : `: ${said}`}.`,
  );
}
