import type { Channel } from '../../src/protocol/channel/channel.ts';
import type { SandboxMessage } from '../../src/protocol/messages/messages.ts';
import type { CellResult, SessionRequest } from '../../src/protocol/messages/session-messages.ts';
import { type RunOutcome, toldOutcome } from '../run/run-outcome.ts';

/** The host's request for a run of a session. */
export type Cell = SessionRequest & { type: 'cell' };

/** Sends the result of a run of a session to the host. */
export function tellCell(
  channel: Channel,
  place: Pick<CellResult, 'run' | 'epoch' | 'state'>,
  outcome: RunOutcome,
): void {
  const { diagnostics } = outcome;
  channel.send({ type: 'cell', ...place, ...toldOutcome(outcome), diagnostics } satisfies SandboxMessage);
}
