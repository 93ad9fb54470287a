import type { JobEvent } from '../../../contracts/jobs/events.ts';
import type { JobResult } from '../../../contracts/jobs/result.ts';
import type { Orchestrator } from '../../../jobs/orchestrator.ts';
import { progressLine } from '../../../jobs/progress-line.ts';
import type { CallProgress } from './call-progress.ts';

/** Runs a job and reports its progress. @throws SkillcellError when it could not be accepted, or skillcell failed */
export async function runJob(
  orchestrator: Orchestrator,
  job: Parameters<Orchestrator['stream']>[0],
  progress: CallProgress,
): Promise<JobResult> {
  const stream = orchestrator.stream(job);
  // The failure is thrown below, after the events; until then it must not count as unhandled.
  stream.result.catch(() => undefined);
  await tellProgress(stream, progress);
  return await stream.result;
}

/** Reports the events of a job to their end. */
export async function tellProgress(events: AsyncIterable<JobEvent>, progress: CallProgress): Promise<void> {
  for await (const event of events) {
    // A terminal shows a run by its output; a client sees no output before the end.
    const line = event.type === 'run' ? `run ${event.run} of the code` : progressLine(event);
    if (line !== undefined) progress.say(line);
  }
}
