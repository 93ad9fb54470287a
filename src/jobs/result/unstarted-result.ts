import type { JobResult } from '../../contracts/jobs/result.ts';
import { emptyResult } from './empty-result.ts';
import type { PreparedJob } from '../prepare/prepare-job.ts';

/** How a job ended that needed no sandbox, or came to none. */
export type UnstartedEnding = Pick<JobResult, 'outcome'> & Partial<Pick<JobResult, 'limit' | 'error'>>;

/** The result of an accepted job of which no program ran: nothing that it declared is there. */
export function unstartedResult(job: PreparedJob, attempt: number, ending: UnstartedEnding): JobResult {
  const { expect } = job.globals.JOB;
  return {
    ...emptyResult({ jobId: job.jobId, kind: job.kind, attempt }),
    ...ending,
    ...(expect.length === 0 && job.valueSchema === undefined
      ? {}
      : { contract: { satisfied: false, missing: expect } }),
    ...(job.match === undefined ? {} : { match: job.match }),
    sources: job.globals.SOURCES_POOL,
    diagnostics: job.diagnostics,
    ...(job.kind === 'codegen' ? { codegen: { attempts: [] } } : {}),
  };
}
