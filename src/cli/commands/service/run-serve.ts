import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import { CODEGEN_JOB_TIMEOUT_MS, DEFAULT_LIMITS } from '../../../contracts/jobs/limits.ts';
import { ISOLATION_LEVELS, type Isolation } from '../../../contracts/jobs/result.ts';
import type { JobStream, JobStreamOptions } from '../../../jobs/orchestrator.ts';
import { toolPatterns } from '../../../jobs/request/asked-tools.ts';
import { invalid, type JobRequest } from '../../../jobs/request/job-schema.ts';
import { jobRunners } from '../../job/runners.ts';
import type { CommandContext } from '../../options/flags/command.ts';
import { fleetOfJobs } from '../../options/flags/fleet-flags.ts';
import { mcpToolsFromFlag } from '../../options/flags/mcp-flag.ts';
import { modelFromFlags } from '../../options/flags/model-flags.ts';
import { keepSmall } from '../../options/serving/keep-small.ts';
import { networkFromFlags } from '../../options/network/network-from-flags.ts';
import { poolFromFlags } from '../../options/serving/pool-flag.ts';
import { serviceFlags } from '../../options/serving/service-flags.ts';
import { jobOptions } from '../../options/job-options.ts';
import { loadUnchecked } from '../../../skills/load-subsystem.ts';
import { selectTools } from '../../../tools/define/tool-selection.ts';
import type { Tool } from '../../../tools/define/tool.ts';
import { quoted, usageError } from '../../terminal/usage-error.ts';

/** Jobs at once where workers of a fleet run the sandboxes. */
const FLEET_JOBS = 256;
/** Time for canceled jobs and for the answers to their clients, after `--drain`. */
const END_MS = 10_000;

/** `skillcell serve`: answers requests until the command is interrupted. */
export async function runServe(context: CommandContext): Promise<number> {
  const { output, interruption, json } = context;
  const flags = serviceFlags(context);
  const { runner = 'auto', isolation, limits = {}, tools = [] } = await jobOptions(context, true);
  const level = isolation === undefined ? {} : { isolation };
  const model = await modelFromFlags(context, 'optional');
  using network = await networkFromFlags(context, true);
  await using mcp = await mcpToolsFromFlag(context);
  const { createOrchestrator } = await import('../../../jobs/create-orchestrator.ts');
  const { createLogger } = await import('../../../jobs/create-logger.ts');
  const { networkSettings } = await import('../../../jobs/network/network-settings.ts');
  const { openService } = await import('../../../server/open-service.ts');
  const { consoleFolder } = await import('../../../server/console-folder.ts');
  const logger = createLogger();
  const fleet = fleetOfJobs(context);
  const runners = await jobRunners(context, { emptyFleet: 'wait', logger, fleet });
  const byDefault = runners[0]?.isRemote === true ? FLEET_JOBS : Math.max(2, availableParallelism());
  const concurrency = flags.jobs ?? byDefault;
  await using orchestrator = createOrchestrator({
    tools: mcp.tools,
    ...network.host,
    // Jobs have the skills of their users. With skills, even none, the orchestrator has the tools that read them.
    skills: loadUnchecked(),
    runners,
    concurrency,
    pool: { ...poolFromFlags(context, limits), ...level },
    // A flag sets both the default of a job and the most that it may ask for, and so does its default.
    ceilings: { ...DEFAULT_LIMITS, jobTimeoutMs: CODEGEN_JOB_TIMEOUT_MS, ...limits },
    ...(model === undefined ? {} : { model }),
  });
  const { unknown } = selectTools(orchestrator.tools, toolPatterns(tools));
  if (unknown !== undefined) {
    const advice = 'A tool that a skill of a user brings needs no flag: a job names it in `tools`.';
    throw usageError('--tool', 'the service has no such tool for all of its jobs', unknown.pattern, advice);
  }
  const start = (job: JobRequest, options: JobStreamOptions): JobStream => {
    const ours = { runner, ...strongerOf(isolation, job.isolation), limits: { ...limits, ...job.limits } };
    const asked = job.tools ?? tools;
    checkTools(toolPatterns(asked), toolPatterns(tools), orchestrator.tools);
    const whole = { ...job, ...ours, tools: asked } as Parameters<typeof orchestrator.stream>[0];
    return orchestrator.stream(whole, options);
  };
  // Canceled jobs have their own grace after the time for running ones.
  interruption.allow(flags.drainMs + END_MS);
  const settleUrgent = interruption.onUrgent(() => Promise.all(runners.map((each) => each.close())));
  const pages = await consoleFolder(output.note).catch(async (error: Error) => {
    await output.note(`the service has no console: ${error.message}`);
    return undefined;
  });
  const given = network.host.network;
  const settings = given && networkSettings(given);
  const service = await openService({
    ...{ ...flags, consoleFolder: pages, concurrency, start, logger },
    fleet: fleet && { url: fleet.url, plain: fleet.plain },
    network: settings,
  });
  const { url, adminToken } = service;
  keepSmall();
  await output.note(`skillcell serve listens at ${url}`);
  if (adminToken !== undefined) await output.note(`the token of the first admin is in ${adminToken}`);
  if (json) await output.text(`${JSON.stringify({ url, adminToken: adminToken ?? null })}\n`);
  const { signal } = interruption;
  if (!signal.aborted) await once(signal, 'abort');
  await service.close(flags.drainMs);
  settleUrgent();
  return 0;
}

/** Refuses a tool of the service that its flags do not give. Other names are those of tools that skills bring. */
function checkTools(asked: readonly string[], given: readonly string[], all: readonly Tool[]): void {
  const allowed = new Set(selectTools(all, given).tools);
  const refused = selectTools(all, asked).tools.find((tool) => !allowed.has(tool));
  if (refused !== undefined) throw invalid(`the service gives its jobs no such tool, got ${quoted(refused.id)}`);
}

/** A job may ask for a stronger level than the service has by default, and never gets a weaker one. */
function strongerOf(ours: Isolation | undefined, asked: Isolation | undefined): { isolation?: Isolation } {
  const rank = (level: Isolation | undefined): number => (level === undefined ? -1 : ISOLATION_LEVELS.indexOf(level));
  const isolation = rank(asked) > rank(ours) ? asked : ours;
  return isolation === undefined ? {} : { isolation };
}
