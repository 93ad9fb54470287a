import type { Artifact, CallRow, Isolation, JobResult, ResultSkills, RunnerName } from './result.ts';

/** What happens to a job, as it happens. `finished` is the last event of a job that ran, `faulted` of one that we failed. */
export type JobEvent =
  | { type: 'accepted'; jobId: string }
  | { type: 'started'; jobId: string; runner: RunnerName; isolation: Isolation; warm: boolean }
  | { type: 'skills'; jobId: string; skills: ResultSkills }
  | { type: 'attempt'; jobId: string; attempt: number; maxAttempts: number; phase: 'asking' | 'running' }
  /** A run of user code begins; output that follows belongs to it. */
  | { type: 'run'; jobId: string; run: number }
  | { type: 'output'; jobId: string; stream: 'stdout' | 'stderr'; bytes: Uint8Array }
  | { type: 'call'; jobId: string; call: CallRow }
  | { type: 'artifact'; jobId: string; artifact: Artifact }
  | { type: 'finished'; jobId: string; result: JobResult }
  | { type: 'faulted'; jobId: string; error: Error };
