import { type Broker, type BrokerOptions, createBroker } from '../../tools/calls/broker.ts';
import type { HostMessage } from '../../protocol/messages/messages.ts';
import type { EmitEvent } from '../events/event-stream.ts';
import type { RunGround } from './run-ground.ts';

/** Options of {@link createRunBroker}: its own, and the options of the broker that differ between jobs and sessions. */
export type RunBrokerOptions = Partial<BrokerOptions> & {
  emit: EmitEvent;
  /** Number of the run in a session. */
  run?: number;
  /** Called when the run begins to wait for an approval, and when it goes on. */
  onClock?: (running: boolean) => void;
};

/** Creates the broker of one run, or of all runs of a job's program. While an approval is open, the job's clocks stand still. */
export function createRunBroker(ground: RunGround, { emit, run, onClock, ...own }: RunBrokerOptions): Broker {
  const { job, sandbox, ending } = ground;
  const { jobId, limits, request, tools } = job;
  return createBroker({
    jobId,
    tools,
    context: request.context,
    limits,
    approve: ground.approve,
    onApproval: ({ phase, request: { call, tool }, reason }) =>
      void emit({ type: 'approval', jobId, call, tool, phase, ...(reason === undefined ? {} : { reason }) }),
    onWaiting(waiting) {
      onClock?.(!waiting);
      ending.setClock(!waiting);
      sandbox.channel.send({ type: 'clock', running: !waiting } satisfies HostMessage);
    },
    onToolFailure: (name, error) => ground.onToolFailure(name, error, run),
    onAnswered: (call) => void emit({ type: 'call', jobId, call: { ...call } }),
    ...own,
  });
}
