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
  const [stdout, stderr] = [channel.openStream(), channel.openStream()];
  const send = (message: SandboxMessage): void => channel.send(message);
  send({ type: 'run', run, stdout: stdout.number, stderr: stderr.number });
  for (const writer of [stdout, stderr]) writer.end();
  send({
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
  });
}
