import { diagnostic, type Diagnostic } from '../../contracts/errors/diagnostic.ts';
import { SkillcellError } from '../../contracts/errors/skillcell-error.ts';
import type { JobResult } from '../../contracts/jobs/result.ts';
import type { CallTally } from '../../tools/calls/call-tally.ts';
import { HostLeaves } from '../../sandboxes/host-leaves.ts';
import type { EmitEvent } from '../events/event-stream.ts';
import type { PreparedJob } from '../prepare/prepare-job.ts';

/** Options of {@link repeatLost}. */
export interface RepeatOptions {
  /** Number of the first attempt. */
  attempt: number;
  /** Most attempts of the job. */
  most: number;
  signal: AbortSignal;
  emit: EmitEvent;
  /** Calls of all attempts. */
  tally: Pick<CallTally, 'changedBy'>;
}

/**
 * Runs a job, and runs it again in another sandbox while its sandbox is lost. It stays lost if a tool may have changed something, or no attempt
 * or time is left. A loss that its host has announced does not count.
 *
 * @param run one attempt of the job
 * @throws SkillcellError `sandbox.lost`, and all that `run` throws
 */
export async function repeatLost(
  job: PreparedJob,
  { most, signal, emit, tally, ...options }: RepeatOptions,
  run: (job: PreparedJob, attempt: number) => Promise<JobResult>,
): Promise<JobResult> {
  const { jobId, limits, disclosure } = job;
  const startedAt = performance.now();
  const leftMs = (): number => limits.jobTimeoutMs - (performance.now() - startedAt);
  const restarts: Diagnostic[] = [];
  let [attempt, left] = [options.attempt, most];
  let next = job;
  for (;;) {
    try {
      const result = await run(next, attempt);
      return restarts.length === 0 ? result : { ...result, diagnostics: [...restarts, ...result.diagnostics] };
    } catch (error) {
      if (!SkillcellError.isInstance(error) || error.code !== 'sandbox.lost') throw error;
      if (!(error.cause instanceof HostLeaves)) left -= 1;
      if (most === 1 || left === 0 || signal.aborted || leftMs() <= 0) throw error;
      if (tally.changedBy !== undefined) throw notAgain(error, tally.changedBy);
      const reason = error.message;
      attempt += 1;
      restarts.push(diagnostic('sandbox.restarted', `The job was started again, as attempt ${attempt}: ${reason}`));
      await emit({ type: 'restarted', jobId, attempt, reason });
      disclosure?.restart();
      next = { ...job, limits: { ...limits, jobTimeoutMs: Math.max(1, Math.floor(leftMs())) } };
    }
  }
}

function notAgain(cause: SkillcellError, tool: string): SkillcellError {
  const message = `${cause.message.replace(/\.$/, '')}; it is not started again, as a call of ${tool} had begun.`;
  return new SkillcellError('sandbox.lost', message, { cause });
}
