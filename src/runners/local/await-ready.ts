import { SkillcellError } from '../../contracts/skillcell-error.ts';
import { createChannel } from '../../protocol/channel.ts';
import type { Sandbox } from '../runner.ts';

/** Waits until the entry of a fresh sandbox has said that it and its executor are ready. */
export async function awaitReady(sandbox: Sandbox, signal: AbortSignal): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const timer = setTimeout(() => reject(failure(sandbox, 'it did not answer within 10 s')), 10_000);
    const abort = (): void => reject(signal.reason as Error);
    signal.addEventListener('abort', abort, { once: true });
    createChannel(sandbox.channel, {
      onMessage: () => {
        clearTimeout(timer);
        signal.removeEventListener('abort', abort);
        resolve();
      },
      onStream: () => undefined,
      onClose: () => {
        clearTimeout(timer);
        void sandbox.exited.then(() => reject(failure(sandbox, 'it ended at once')));
      },
    });
  });
}

function failure(sandbox: Sandbox, reason: string): SkillcellError {
  const said = sandbox.complaint().trim();
  return new SkillcellError(
    'sandbox.start-failed',
    `Cannot start a sandbox: ${reason}${said === '' ? '' : `: ${said}`}.`,
  );
}
