import type { JobKind } from '../../contracts/jobs/result.ts';

/** An accepted job, as recorded in the journal. */
export interface AcceptedJob {
  jobId: string;
  kind: JobKind;
  attempt: number;
}
