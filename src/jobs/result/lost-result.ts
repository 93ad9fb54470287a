import { errorEntry, type ErrorCode } from '../../contracts/errors/error-registry.ts';
import type { JobResult } from '../../contracts/jobs/result.ts';
import type { AcceptedJob } from './accepted-job.ts';
import { emptyResult } from './empty-result.ts';

/** The result of a job that we failed: its host died (`job.host-lost`), or could not go on. Nothing is known of its program. */
export function lostResult(job: AcceptedJob, code: ErrorCode = 'job.host-lost', message?: string): JobResult {
  const text = message ?? errorEntry(code).advice;
  return {
    ...emptyResult(job),
    error: { name: code, message: text, stack: '' },
    diagnostics: [{ code, severity: 'error', message: text }],
  };
}
