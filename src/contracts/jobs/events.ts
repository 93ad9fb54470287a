import type { JobDecision } from './decision.ts';
import type { Diagnostic } from '../errors/diagnostic.ts';
import type { SessionResult } from './session-result.ts';
import type { SkillcellError } from '../errors/skillcell-error.ts';
import type { Artifact, CallRow, Isolation, JobResult, ResultSkills, RunnerName } from './result.ts';

/** What happens to a job, as it happens. `finished` is the last event of a job that ran, `faulted` of one that we failed. */
export type JobEvent =
  | { type: 'accepted'; jobId: string }
  | {
      type: 'started';
      jobId: string;
      runner: RunnerName;
      isolation: Isolation;
      warm: boolean;
      diagnostics: Diagnostic[];
    }
  | { type: 'skills'; jobId: string; skills: ResultSkills }
  | { type: 'attempt'; jobId: string; attempt: number; maxAttempts: number; phase: 'asking' | 'running' }
  /** A model is asked. Rounds count the requests of a stage, from 1. */
  | { type: 'prompt'; jobId: string; stage: ModelStage; round: number; promptSha256: string }
  /** What it answered. */
  | { type: 'text'; jobId: string; stage: ModelStage; round: number; text: string }
  /** The program of an attempt, before it runs. */
  | { type: 'code'; jobId: string; attempt: number; code: string }
  /** A job with `select` was decided on, or came to no decision. */
  | { type: 'decision'; jobId: string; decision: JobDecision }
  /** A run of user code begins; output that follows belongs to it. */
  | { type: 'run'; jobId: string; run: number }
  | OutputEvent
  /** A run of a session shows something, while it goes on. */
  | { type: 'result'; jobId: string; run: number; result: SessionResult }
  | { type: 'call'; jobId: string; call: CallRow }
  /** Somebody is asked to allow a call, or has answered. */
  | {
      type: 'approval';
      jobId: string;
      call: number;
      tool: string;
      phase: 'asked' | 'allowed' | 'denied';
      reason?: string;
    }
  | { type: 'artifact'; jobId: string; artifact: Artifact }
  | { type: 'finished'; jobId: string; result: JobResult }
  | { type: 'faulted'; jobId: string; error: SkillcellError };

/** What of a job asks a model. */
export type ModelStage = 'decision' | 'codegen';

/** A piece of what a run writes. In JSON the bytes are base64. */
export interface OutputEvent {
  type: 'output';
  jobId: string;
  stream: 'stdout' | 'stderr';
  bytes: Uint8Array;
  /** The bytes as UTF-8; a character that is not whole yet stands in the next event of its stream. */
  text: string;
}
