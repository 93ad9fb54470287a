import type { JobEvent } from '../../../contracts/jobs/events.ts';
import type { JobResult } from '../../../contracts/jobs/result.ts';
import type { Orchestrator } from '../../../jobs/orchestrator.ts';
import { progressLine } from '../../../jobs/progress-line.ts';
import type { CallProgress } from './call-progress.ts';

/** Runs a job and says how far it is. @throws SkillcellError when it could not be accepted, or we failed */
export async function runJob(
  orchestrator: Orchestrator,
  job: Parameters<Orchestrator['stream']>[0],
  progress: CallProgress,
): Promise<JobResult> {
  const stream = orchestrator.stream(job);
  // The events end before a failure is looked at.
  stream.result.catch(() => undefined);
  await tellProgress(stream, progress);
  return await stream.result;
}

/** Reads events to their end. */
export async function tellProgress(events: AsyncIterable<JobEvent>, progress: CallProgress): Promise<void> {
  for await (const event of events) {
    // People see a run begin by what it prints; a client sees nothing of that before the end.
    const line = event.type === 'run' ? `run ${event.run} of the code` : progressLine(event);
    if (line !== undefined) progress.say(line);
  }
}
