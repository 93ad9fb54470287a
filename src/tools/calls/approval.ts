/** A call that somebody has to allow. */
export interface ApprovalRequest {
  jobId: string;
  /** What the caller of the job gave as `context`. */
  context: unknown;
  /** The call's number within its job. */
  call: number;
  /** Id of the tool. */
  tool: string;
  description: string;
  /** A copy of what the tool gets: checked against its schema, but written by sandboxed code. */
  input: unknown;
  /** The run of the job's program that calls, from 1. */
  attempt: number;
}

/** Whether the call is made, and if not, why: the program reads the reason. */
export interface ApprovalAnswer {
  allow: boolean;
  reason?: string | undefined;
}

/** Asks whoever decides. The signal is aborted when nobody waits for the answer any more. */
export type Approve = (request: ApprovalRequest, options: { signal: AbortSignal }) => Promise<ApprovalAnswer>;
