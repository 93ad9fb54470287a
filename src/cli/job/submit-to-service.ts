import { connectService } from '../../client/connect-service.ts';
import { saveArtifacts } from '../../client/save-artifacts.ts';
import type { ConnectServiceOptions, ServiceJob } from '../../client/service-client.ts';
import type { JobResult } from '../../contracts/jobs/result.ts';
import type { CommandContext } from '../options/flags/command.ts';
import { type LiveOutput, showEvent } from './submit-job.ts';

/** A job at a service. */
export interface ServiceRun {
  service: ConnectServiceOptions;
  job: ServiceJob;
  live: LiveOutput;
  /** The folder for artifacts, by the id that the service has given to the job. @default `output` of the job */
  folderOf?: (jobId: string) => string | undefined;
  /** Takes each answer of the model. */
  onAnswer?: (text: string) => void;
}

/**
 * Runs one job at a service to its end.
 *
 * @throws SkillcellError when the job could not be accepted, or the service failed
 */
export async function submitToService(
  context: CommandContext,
  { service, job, live, folderOf, onAnswer }: ServiceRun,
): Promise<JobResult> {
  await using client = connectService(service);
  const stream = client.stream(job);
  const settleUrgent = context.interruption.onUrgent((reason) => client.cancel(stream.jobId, reason));
  try {
    // The failure is thrown below, after the events; until then it must not count as unhandled.
    stream.result.catch(() => undefined);
    for await (const event of stream) {
      if (event.type === 'text') onAnswer?.(event.text);
      await showEvent(context, job, event, live);
    }
    const result = await stream.result;
    const folder = folderOf?.(result.jobId);
    if (folder === undefined) return result;
    return await saveArtifacts((path) => client.readArtifact(result, path), result, folder);
  } finally {
    settleUrgent();
  }
}
