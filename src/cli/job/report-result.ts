import type { JobResult } from '../../contracts/jobs/result.ts';
import type { CommandContext } from '../options/flags/command.ts';
import { jobSummary } from './job-summary.ts';

/**
 * Prints the result of a job and gives the exit code: 0 when the program succeeded, 1 for every other outcome.
 *
 * @param folder where artifacts were written to
 */
export async function reportResult(
  { output, json }: CommandContext,
  result: JobResult,
  folder: string | undefined,
): Promise<number> {
  if (json) await output.json(result);
  else for (const line of jobSummary(result, folder)) await output.note(line);
  return result.outcome === 'succeeded' ? 0 : 1;
}
