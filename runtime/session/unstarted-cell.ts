import { diagnostic } from '../../src/contracts/diagnostic.ts';
import type { Channel } from '../../src/protocol/channel.ts';
import type { SandboxMessage } from '../../src/protocol/messages.ts';
import type { Cell } from './run-cell.ts';

/** Whether something failed because user code has as many processes as there may be. */
export function lacksProcesses(error: unknown): boolean {
  const { cause } = error as { cause?: NodeJS.ErrnoException };
  return cause?.code === 'EAGAIN';
}

/** Tells the host of a run whose interpreter could not be started: all that the session had running was ended for it. */
export function tellUnstarted({ run }: Cell, epoch: number, channel: Channel): void {
  channel.send({
    type: 'cell',
    run,
    epoch,
    state: 'lost',
    outcome: 'limit',
    limit: 'pids',
    exitCode: null,
    signal: null,
    stdoutBytes: 0,
    stderrBytes: 0,
    runMs: 0,
    diagnostics: [
      diagnostic(
        'session.lost',
        'The processes of the session were as many as they may be, so that no interpreter could be started: they were ended, and with them what the runs had defined.',
      ),
    ],
  } satisfies SandboxMessage);
}
