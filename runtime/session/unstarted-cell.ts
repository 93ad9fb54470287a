import { diagnostic } from '../../src/contracts/errors/diagnostic.ts';
import type { Channel } from '../../src/protocol/channel/channel.ts';
import type { SandboxMessage } from '../../src/protocol/messages/messages.ts';
import type { ProcessEnd } from '../run/program/wait-status.ts';
import type { Cell } from './run-cell.ts';

/** What a run is that never began. */
const UNSTARTED = {
  type: 'cell',
  exitCode: null,
  signal: null,
  stdoutBytes: 0,
  stderrBytes: 0,
  runMs: 0,
} as const;

/** Whether something failed because user code has as many processes as there may be. */
export function lacksProcesses(error: unknown): boolean {
  const { cause } = error as { cause?: NodeJS.ErrnoException };
  return cause?.code === 'EAGAIN';
}

/** An interpreter that ended before it could take any code, for example because it is not there: what others had defined stays. */
export class UnreadyInterpreter extends Error {
  constructor(language: string, { code, signal }: ProcessEnd) {
    super(
      `The interpreter of ${language} ended before it could take code, with ${signal ?? `code ${code ?? 'unknown'}`}.`,
    );
  }
}

/** Tells the host of a run whose interpreter was not there to take it. */
export function tellUnready({ run }: Cell, epoch: number, channel: Channel, { message }: UnreadyInterpreter): void {
  channel.send({
    ...UNSTARTED,
    ...{ run, epoch, state: 'kept', outcome: 'failed', diagnostics: [] },
    error: { name: 'InterpreterMissing', message, stack: '' },
  } satisfies SandboxMessage);
}

/** Tells the host of a run for which no process was left: all that the session had running was ended for it. */
export function tellUnstarted({ run }: Cell, epoch: number, channel: Channel): void {
  channel.send({
    ...UNSTARTED,
    ...{ run, epoch, state: 'lost', outcome: 'limit', limit: 'pids' },
    diagnostics: [
      diagnostic(
        'session.lost',
        'The processes of the session were as many as they may be, so that no interpreter could be started: they were ended, and with them what the runs had defined.',
      ),
    ],
  } satisfies SandboxMessage);
}
