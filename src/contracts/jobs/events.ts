import type { JobDecision } from './decision.ts';
import type { Diagnostic } from '../errors/diagnostic.ts';
import type { SessionResult } from './session-result.ts';
import type { NetworkRow } from '../network/result-network.ts';
import type { SkillcellError } from '../errors/skillcell-error.ts';
import type { Artifact, CallRow, Isolation, JobResult, ResultSkills, RunnerName } from './result.ts';

/** Live event of a job. `finished` is the last event of a job that ran, `faulted` the last event of a job without a result. */
export type JobEvent =
  | { type: 'accepted'; jobId: string }
  | {
      type: 'started';
      jobId: string;
      runner: RunnerName;
      isolation: Isolation;
      /** The worker of a fleet that runs the sandbox. */
      worker?: string;
      warm: boolean;
      diagnostics: Diagnostic[];
    }
  /** The job waits for a sandbox. */
  | { type: 'waiting'; jobId: string; reason: string }
  /** The sandbox was lost, and the job begins anew in another one. The output before does not count. */
  | { type: 'restarted'; jobId: string; attempt: number; reason: string }
  | { type: 'skills'; jobId: string; skills: ResultSkills }
  | { type: 'attempt'; jobId: string; attempt: number; maxAttempts: number; phase: 'asking' | 'running' }
  /** A request to a model. Rounds count the requests of a stage, from 1. */
  | { type: 'prompt'; jobId: string; stage: ModelStage; round: number; promptSha256: string }
  /** The answer of the model. */
  | { type: 'text'; jobId: string; stage: ModelStage; round: number; text: string }
  /** The program of an attempt, before it runs. */
  | { type: 'code'; jobId: string; attempt: number; code: string }
  /** The decision of a job with `select`, or its failure. */
  | { type: 'decision'; jobId: string; decision: JobDecision }
  /** A run of user code begins; the following output belongs to it. */
  | { type: 'run'; jobId: string; run: number }
  | OutputEvent
  /** A result that a session run shows before its end. */
  | { type: 'result'; jobId: string; run: number; result: SessionResult }
  | { type: 'call'; jobId: string; call: CallRow }
  /** A request to approve a call, or its answer. */
  | {
      type: 'approval';
      jobId: string;
      call: number;
      tool: string;
      phase: 'asked' | 'allowed' | 'denied';
      reason?: string;
    }
  /** A request to the network has ended. */
  | { type: 'network'; jobId: string; request: NetworkRow }
  | { type: 'artifact'; jobId: string; artifact: Artifact }
  | { type: 'finished'; jobId: string; result: JobResult }
  | { type: 'faulted'; jobId: string; error: SkillcellError };

/** Stage of a job that asks a model. */
export type ModelStage = 'decision' | 'codegen';

/** A chunk of the output of a run. In JSON the bytes are base64. */
export interface OutputEvent {
  type: 'output';
  jobId: string;
  stream: 'stdout' | 'stderr';
  bytes: Uint8Array;
  /** The bytes as UTF-8; an incomplete character moves to the next event of its stream. */
  text: string;
}
