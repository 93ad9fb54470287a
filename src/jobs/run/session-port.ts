import type { CallRow, CallTotal } from '../../contracts/jobs/result.ts';
import type { SandboxCall, SandboxMessage } from '../../protocol/messages/messages.ts';
import type { CallTraffic } from './answer-call.ts';
import type { JobEnding } from '../result/job-ending.ts';
import type { PreparedJob } from '../prepare/prepare-job.ts';
import type { TraceSpan } from '../tracing/trace-span.ts';
import type { SandboxSession } from '../supply/sandbox-session.ts';

/** What the host's side of a session stands on, once its job has a sandbox. */
export interface SessionGround {
  job: PreparedJob;
  sandbox: SandboxSession;
  ending: JobEnding;
  /** The job's own. */
  span: TraceSpan;
  /** What the answers to calls share; the broker is each run's own. */
  traffic: Omit<CallTraffic, 'broker'>;
}

/** What a session takes of what its sandbox sends. */
export interface SessionPort {
  /** The job has its sandbox, and is on its way there. */
  begin(ground: SessionGround): void;
  /** A message that only sessions send, or that has another meaning for them. */
  message(message: SandboxMessage): void;
  /** Throws at once where the sandbox breaks the protocol. */
  call(call: SandboxCall, signal: AbortSignal): Promise<void>;
  /** The sandbox is over, and so is whatever is under way. */
  end(fault: Error | undefined): void;
  /** The calls of all its runs. */
  readonly rows: CallRow[];
  readonly totals: Record<string, CallTotal>;
}
