import { skillSource } from '../../../jobs/request/skill-source.ts';
import { once } from 'node:events';
import { DEFAULT_CONSUMER } from '../../../contracts/jobs/job.ts';
import { DEFAULT_LIMITS, type JobLimits } from '../../../contracts/jobs/limits.ts';
import type { McpHost } from '../../../mcp/server/create-mcp-host.ts';
import type { OrchestratorOptions } from '../../../jobs/orchestrator.ts';
import { jobRunners } from '../../job/runners.ts';
import type { CommandContext } from '../../options/flags/command.ts';
import { consumerFromFlags } from '../../options/flags/consumer-flag.ts';
import { type HttpFlags, httpFromFlags } from '../../options/serving/http-flags.ts';
import { jobOptions } from '../../options/job-options.ts';
import { networkFromFlags } from '../../options/network/network-from-flags.ts';
import { followedSkills } from '../../options/skills/job-skills.ts';
import { mcpToolsFromFlag } from '../../options/flags/mcp-flag.ts';
import { modelFromFlags } from '../../options/flags/model-flags.ts';
import { keepSmall } from '../../options/serving/keep-small.ts';
import { poolFromFlags } from '../../options/serving/pool-flag.ts';
import { packageVersion } from '../../../contracts/package-root.ts';

const MIB = 1024 * 1024;
/** Most waiting jobs; more are refused. */
const QUEUE = 64;
/** Artifacts stay in memory for clients to read. */
const KEPT_ARTIFACT_BYTES: number = 32 * MIB;
const ARTIFACT_LIMITS: Partial<JobLimits> = { artifactFileBytes: 8 * MIB, artifactTotalBytes: 16 * MIB };
/** Log lines wait for a reader of stderr up to this size; more are dropped, since clients cause them. */
const WAITING_LOG_BYTES: number = 64 * 1024;

/** `skillcell mcp`: serves MCP clients until the client is gone or the command is interrupted. */
export async function runMcp(context: CommandContext): Promise<number> {
  const { arguments: given, io, output, interruption } = context;
  const http = httpFromFlags(context);
  const { runner = 'auto', isolation, env = {}, limits = {}, tools = [] } = await jobOptions(context, true);
  const level = isolation === undefined ? {} : { isolation };
  const consumer = consumerFromFlags(given) ?? DEFAULT_CONSUMER;
  const pool = { ...poolFromFlags(context, limits), ...level };
  const model = await modelFromFlags(context, 'optional');
  using network = await networkFromFlags(context);
  await using followed = await followedSkills(context);
  const { skills } = followed;
  keepSmall();
  const runners = await jobRunners(context);
  await using mcp = await mcpToolsFromFlag(context);
  const host: OrchestratorOptions = {
    tools: mcp.tools,
    ...network.host,
    skills,
    runners,
    pool,
    queue: QUEUE,
    keptArtifactBytes: Math.max(KEPT_ARTIFACT_BYTES, limits.artifactTotalBytes ?? 0),
    // A flag sets both the default of a job and the most that a job may ask for.
    ceilings: { ...ARTIFACT_LIMITS, runTimeoutMs: DEFAULT_LIMITS.runTimeoutMs, ...limits },
    ...(model === undefined ? {} : { model }),
  };
  const { createOrchestrator } = await import('../../../jobs/create-orchestrator.ts');
  const { createMcpHost } = await import('../../../mcp/server/create-mcp-host.ts');
  const orchestrator = createOrchestrator(host);
  const settleUrgent = interruption.onUrgent(() => Promise.all(runners.map((each) => each.close())));
  const log = (line: string): void => {
    if (io.stderr.writableLength < WAITING_LOG_BYTES) void output.note(`mcp: ${line}`);
  };
  try {
    const job = { runner, ...level, env, limits, tools, ...network.job };
    const server = createMcpHost({
      orchestrator,
      skills: skillSource(skills),
      consumer,
      job,
      version: packageVersion(),
      log,
    });
    await serve(server, http, context, log).finally(() => server.close());
  } finally {
    await orchestrator.close();
    settleUrgent();
  }
  return 0;
}

/** Resolves when the client is gone, or the command is interrupted. */
async function serve(
  host: McpHost,
  http: HttpFlags | undefined,
  { io, output, interruption: { signal } }: CommandContext,
  log: (line: string) => void,
): Promise<void> {
  const interrupted = signal.aborted ? Promise.resolve() : once(signal, 'abort');
  if (http === undefined) {
    const { serveStdio } = await import('../../../mcp/server/stdio/serve-stdio.ts');
    const connection = serveStdio(host, io.stdin, io.stdout, log);
    await Promise.race([connection.ended, interrupted]);
    await connection.close();
  } else {
    const { serveHttp } = await import('../../../mcp/server/http/serve-http.ts');
    const listener = await serveHttp(host, { ...http, log });
    await output.note(`skillcell mcp listens at ${listener.url}`);
    await interrupted;
    await listener.close();
  }
}
