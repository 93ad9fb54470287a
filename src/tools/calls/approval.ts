/** A call that needs approval. */
export interface ApprovalRequest {
  jobId: string;
  /** The `context` from the caller of the job. */
  context: unknown;
  /** The call's number within its job. */
  call: number;
  /** Id of the tool. */
  tool: string;
  description: string;
  /** A copy of the tool's input: checked against its schema, but written by sandboxed code. */
  input: unknown;
  /** The run of the job's program that calls, from 1. */
  attempt: number;
}

/** Whether the call may be made. The program reads the reason of a refusal. */
export interface ApprovalAnswer {
  allow: boolean;
  reason?: string | undefined;
}

/** Asks for an approval. The signal is aborted when the answer is no longer needed. */
export type Approve = (request: ApprovalRequest, options: { signal: AbortSignal }) => Promise<ApprovalAnswer>;
