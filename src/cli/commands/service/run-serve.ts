import { once } from 'node:events';
import { isIP } from 'node:net';
import { availableParallelism } from 'node:os';
import { resolve } from 'node:path';
import { CODEGEN_JOB_TIMEOUT_MS, DEFAULT_LIMITS } from '../../../contracts/jobs/limits.ts';
import { ISOLATION_LEVELS, type Isolation } from '../../../contracts/jobs/result.ts';
import { stateFolder } from '../../../durable/user-folders.ts';
import type { JobStream, JobStreamOptions } from '../../../jobs/orchestrator.ts';
import { toolPatterns } from '../../../jobs/request/asked-tools.ts';
import { invalid, type JobRequest } from '../../../jobs/request/job-schema.ts';
import { jobRunners } from '../../job/runners.ts';
import { type CommandContext, flagValue, flagValues } from '../../options/flags/command.ts';
import { fleetOfJobs } from '../../options/flags/fleet-flags.ts';
import { mcpToolsFromFlag } from '../../options/flags/mcp-flag.ts';
import { modelFromFlags } from '../../options/flags/model-flags.ts';
import { parseNumber } from '../../options/flags/parse-number.ts';
import { keepSmall } from '../../options/serving/keep-small.ts';
import { networkFromFlags } from '../../options/network/network-from-flags.ts';
import { poolFromFlags } from '../../options/serving/pool-flag.ts';
import { jobOptions } from '../../options/job-options.ts';
import { loadUnchecked } from '../../../skills/load-subsystem.ts';
import { selectTools } from '../../../tools/define/tool-selection.ts';
import type { Tool } from '../../../tools/define/tool.ts';
import { quoted, usageError } from '../../terminal/usage-error.ts';

const PORT = { minimum: 0, maximum: 65_535, unit: 'the port' };
const DRAIN = { minimum: 0, maximum: 3_600, unit: 'seconds' };
const KEEP_DAYS = { minimum: 1, maximum: 3_650, unit: 'days' };
const MAX_WAITING = { minimum: 1, maximum: 1_000_000, unit: 'jobs' };
/** Jobs at once where workers of a fleet run the sandboxes. */
const FLEET_JOBS = 256;
/** Time for canceled jobs and for the answers to their clients, after `--drain`. */
const END_MS = 10_000;
/** A name, or an address of version 6 in brackets. */
const HOST_NAME = /^(?:[a-z0-9._-]+|\[[0-9a-f:.]+\])$/;
const LOOPBACK = ['127.0.0.1', 'localhost', '::1'];

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
  const concurrency = runners[0]?.isRemote === true ? FLEET_JOBS : Math.max(2, availableParallelism());
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

interface ServiceFlags {
  folder: string;
  databaseUrl: string | undefined;
  host: string;
  port: number;
  allowHosts: string[];
  behindProxy: boolean;
  drainMs: number;
  keepDays: number;
  maxWaiting: number;
}

/** @throws SkillcellError `usage.invalid` */
function serviceFlags({ arguments: given, io }: CommandContext): ServiceFlags {
  const number = (name: string, fallback: number, range: Parameters<typeof parseNumber>[2]): number => {
    const text = flagValue(given, name);
    return text === undefined ? fallback : parseNumber(`--${name}`, text, range);
  };
  const host = flagValue(given, 'host') ?? '127.0.0.1';
  const behindProxy = given.flags.has('behind-proxy');
  if (isIP(host) === 0 && host !== 'localhost')
    throw usageError('--host', 'it must be an IP address or localhost', host);
  if (!LOOPBACK.includes(host) && !behindProxy) {
    const advice = 'Let a proxy end TLS, and add --behind-proxy.';
    throw usageError('--host', 'other machines could read the tokens of requests without TLS', host, advice);
  }
  const databaseUrl = flagValue(given, 'database');
  if (databaseUrl !== undefined && !/^postgres(?:ql)?:$/.test(URL.parse(databaseUrl)?.protocol ?? '')) {
    // The text may hold a password.
    throw usageError(
      '--database',
      'it must be an address of the form postgres://USER@HOST/NAME',
      `${databaseUrl.length} characters`,
    );
  }
  const state = flagValue(given, 'state');
  if (state === '') throw usageError('--state', 'it must name a folder', state);
  const allowHosts = flagValues(given, 'allow-host').map((name) => name.toLowerCase());
  const notHost = allowHosts.find((name) => URL.parse(`http://${name}`)?.hostname !== name || !HOST_NAME.test(name));
  if (notHost !== undefined)
    throw usageError('--allow-host', 'it must be one name or address, without a port or wildcard', notHost);
  return {
    folder: state === undefined ? stateFolder(io.env) : resolve(io.cwd(), state),
    ...{ databaseUrl, host, behindProxy, allowHosts },
    port: number('port', 7_420, PORT),
    drainMs: number('drain', 30, DRAIN) * 1_000,
    keepDays: number('keep-days', 30, KEEP_DAYS),
    maxWaiting: number('max-waiting', 1_000, MAX_WAITING),
  };
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
