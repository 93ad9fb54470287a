import type { JobEvent } from '../../contracts/jobs/events.ts';
import type { JobResult } from '../../contracts/jobs/result.ts';
import { createOrchestrator } from '../../jobs/create-orchestrator.ts';
import type { Orchestrator, OrchestratorOptions } from '../../jobs/orchestrator.ts';
import type { McpServers } from '../../mcp/client/mcp-servers.ts';
import type { CommandContext } from '../options/flags/command.ts';
import { mcpToolsFromFlag } from '../options/flags/mcp-flag.ts';
import { progressLine } from '../../jobs/progress-line.ts';
import { jobRunners } from './runners.ts';

/** A job as the orchestrator takes it. */
export type CliJob = Parameters<Orchestrator['stream']>[0];

/** Whether the output of the user's program is shown while it runs. */
export type LiveOutput = 'forward' | 'drop';

/**
 * Runs one job to its end and ends everything that was started for it.
 *
 * @param live whether the program's output is passed on as it comes
 * @throws SkillcellError when the job could not be accepted, or skillcell failed
 */
export async function submitJob(
  context: CommandContext,
  job: CliJob,
  {
    mcp: servers,
    ...host
  }: Pick<OrchestratorOptions, 'skills' | 'model' | 'network'> & { mcp: McpServers | undefined },
  live: LiveOutput,
): Promise<JobResult> {
  const { interruption } = context;
  const runners = await jobRunners(context);
  await using mcp = await mcpToolsFromFlag(context, servers);
  const orchestrator = createOrchestrator({ ...host, tools: mcp.tools, runners, concurrency: 1 });
  const stream = orchestrator.stream(job);
  const settleUrgent = interruption.onUrgent(async (reason) => {
    orchestrator.cancel(stream.jobId, reason);
    await Promise.all(runners.map((runner) => runner.close()));
  });
  try {
    // The failure is thrown below, after the events; until then it must not count as unhandled.
    stream.result.catch(() => undefined);
    for await (const event of stream) await showEvent(context, job, event, live);
    return await stream.result;
  } finally {
    await orchestrator.close();
    settleUrgent();
  }
}

/** Shows an event of a job: its output, and for people its progress. */
export async function showEvent(
  { output, json }: CommandContext,
  job: CliJob,
  event: JobEvent,
  live: LiveOutput,
): Promise<void> {
  if (event.type === 'output') {
    if (live === 'forward') await output.program(event.stream, event.bytes);
    return;
  }
  const chosen = event.type === 'started' && (job.runner ?? 'auto') === 'auto';
  if (!chosen && (!output.watched || json)) return;
  const line = progressLine(event);
  if (line !== undefined) await output.note(line);
}
