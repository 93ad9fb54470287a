import type { CallRow, CallTotal, JobResult, OutputText } from '../../contracts/jobs/result.ts';
import type { SandboxCall, SandboxMessage } from '../../protocol/messages/messages.ts';
import type { Approve } from '../../tools/calls/approval.ts';
import type { OpenNetwork } from '../network/open-job-network.ts';
import type { EmitEvent } from '../events/event-stream.ts';
import type { PreparedJob } from '../prepare/prepare-job.ts';
import type { JobEnding } from '../result/job-ending.ts';
import type { SandboxSession } from '../supply/sandbox-session.ts';
import type { TraceSpan } from '../tracing/trace-span.ts';
import type { CallTraffic } from './answer-call.ts';

/** State that all runs of one sandbox share, once the job has the sandbox. */
export interface RunGround {
  job: PreparedJob;
  sandbox: SandboxSession;
  ending: JobEnding;
  emit: EmitEvent;
  approve: Approve | undefined;
  /** Undefined for a job without a network. */
  network: OpenNetwork | undefined;
  /** Logs the real error of a tool. */
  onToolFailure(name: string, error: unknown, run?: number): void;
  /** Span of the job. */
  span: TraceSpan;
  /** Without a broker: each run of a session has its own. */
  traffic: Omit<CallTraffic, 'broker'>;
}

/** The runs of one sandbox: of a job's program, or of a session. */
export interface SandboxRuns {
  /** The job has its sandbox and is about to be sent. */
  begin(ground: RunGround): void;
  /** Takes a message of a run. Throws where the sandbox breaks the protocol. */
  message(message: SandboxMessage): void;
  /** Answers a call. Throws at once where the sandbox breaks the protocol. */
  call(call: SandboxCall, signal: AbortSignal): Promise<void>;
  /** Whether the host rendered this `[ACTIVE SKILLS]` block for a request of the agent. */
  expectsBlock(sha256: string | null): boolean;
  /** The sandbox is over: ends the current run, if there is one. */
  end(fault: Error | undefined): void;
  /** The job is over, with a result unless we failed. Idempotent. */
  close(result: JobResult | undefined): void;
  /** The kept output of the last run. */
  output(stream: 'stdout' | 'stderr', bytes: number): OutputText;
  /** Calls of all runs. */
  readonly rows: CallRow[];
  readonly totals: Record<string, CallTotal>;
  /** The exceeded budget of calls. */
  readonly exhausted: string | undefined;
  /** Why the model gave no answer. */
  readonly modelFailure: Error | undefined;
}
