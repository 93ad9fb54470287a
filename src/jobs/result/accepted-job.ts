import type { JobKind } from '../../contracts/jobs/result.ts';

/** A job as the journal knows it. */
export interface AcceptedJob {
  jobId: string;
  kind: JobKind;
  attempt: number;
}
