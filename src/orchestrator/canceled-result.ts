import { diagnostic, type Diagnostic } from '../contracts/diagnostic.ts';
import type { JobResult, ProgramError } from '../contracts/result.ts';
import { emptyResult } from './empty-result.ts';
import type { AcceptedJob } from './accepted-job.ts';

/** The result of a job that was canceled before it had a sandbox. */
export function canceledBeforeStart(job: AcceptedJob, reasons: readonly string[]): JobResult {
  return withReasons({ ...emptyResult(job), outcome: 'canceled' }, reasons);
}

/** Says in the result of a canceled job why it was: the first reason as its error, later ones as diagnostics. */
export function withReasons(result: JobResult, reasons: readonly string[]): JobResult {
  if (result.outcome !== 'canceled') return result;
  const [first = 'no reason was given', ...later] = reasons;
  const error: ProgramError = { name: 'Canceled', message: first, stack: '' };
  return { ...result, error, diagnostics: [...result.diagnostics, ...later.map(canceledAgain)] };
}

function canceledAgain(reason: string): Diagnostic {
  return diagnostic('job.canceled-again', `The job was canceled once more: ${reason}`);
}
