import { diagnostic } from '../../src/contracts/errors/diagnostic.ts';
import type { Channel } from '../../src/protocol/channel/channel.ts';
import type { ProcessEnd } from '../run/program/wait-status.ts';
import { emptyRun } from '../run/run-outcome.ts';
import { type Cell, tellCell } from './tell-cell.ts';

/** Whether an error was caused by the limit of processes of user code. */
export function lacksProcesses(error: unknown): boolean {
  const { cause } = error as { cause?: NodeJS.ErrnoException };
  return cause?.code === 'EAGAIN';
}

/** An interpreter that ended before it could take code, for example because it is not installed. The definitions of the others stay. */
export class UnreadyInterpreter extends Error {
  constructor(language: string, { code, signal }: ProcessEnd) {
    super(
      `The interpreter of ${language} ended before it could take code, with ${signal ?? `code ${code ?? 'unknown'}`}.`,
    );
  }
}

/** Sends the reply for a run whose interpreter could not start. */
export function tellUnready({ run }: Cell, epoch: number, channel: Channel, { message }: UnreadyInterpreter): void {
  const error = { name: 'InterpreterMissing', message, stack: '' };
  tellCell(channel, { run, epoch, state: 'kept' }, { ...emptyRun([]), error });
}

/** Sends the reply for a run that found no free process. All processes of the session were ended for it. */
export function tellUnstarted({ run }: Cell, epoch: number, channel: Channel): void {
  const lost = diagnostic(
    'session.lost',
    'The session was at its limit of processes, so no interpreter could be started. All its processes were ended, and the definitions of its runs are lost.',
  );
  const limited = { outcome: 'limit', limit: 'pids' } as const;
  tellCell(channel, { run, epoch, state: 'lost' }, { ...emptyRun([]), ...limited, diagnostics: [lost] });
}
