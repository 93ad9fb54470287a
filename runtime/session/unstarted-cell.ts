import { diagnostic } from '../../src/contracts/errors/diagnostic.ts';
import type { Channel } from '../../src/protocol/channel/channel.ts';
import type { SandboxMessage } from '../../src/protocol/messages/messages.ts';
import type { ProcessEnd } from '../run/program/wait-status.ts';
import type { Cell } from './run-cell.ts';

/** The reply for a run that never began. */
const UNSTARTED = {
  type: 'cell',
  exitCode: null,
  signal: null,
  stdoutBytes: 0,
  stderrBytes: 0,
  runMs: 0,
} as const;

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
  channel.send({
    ...UNSTARTED,
    ...{ run, epoch, state: 'kept', outcome: 'failed', diagnostics: [] },
    error: { name: 'InterpreterMissing', message, stack: '' },
  } satisfies SandboxMessage);
}

/** Sends the reply for a run that found no free process. All processes of the session were ended for it. */
export function tellUnstarted({ run }: Cell, epoch: number, channel: Channel): void {
  channel.send({
    ...UNSTARTED,
    ...{ run, epoch, state: 'lost', outcome: 'limit', limit: 'pids' },
    diagnostics: [
      diagnostic(
        'session.lost',
        'The session was at its limit of processes, so no interpreter could be started. All its processes were ended, and the definitions of its runs are lost.',
      ),
    ],
  } satisfies SandboxMessage);
}
