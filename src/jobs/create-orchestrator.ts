import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import * as z from 'zod/mini';
import { checkOptions } from '../contracts/checks/check-options.ts';
import type { GenerateOptions, Generation } from '../contracts/jobs/generation.ts';
import type { JobResult } from '../contracts/jobs/result.ts';
import { SkillcellError } from '../contracts/errors/skillcell-error.ts';
import { startEgress } from '../egress/start-egress.ts';
import { acceptJob } from './run/accept-job.ts';
import { createArtifactStore, type ArtifactStore } from './journal/artifact-store.ts';
import { createBackgroundWork } from './supply/background-work.ts';
import { builtInTools } from './built-in-tools.ts';
import { closeBeforeExit } from './close-before-exit.ts';
import { closeHost } from './close-host.ts';
import { createEventStream, type EventStream } from './events/event-stream.ts';
import { generateAnswer } from './generate/generate-answer.ts';
import type { JobHost } from './run/job-host.ts';
import { openJobJournal, type JobJournal } from './journal/job-journal.ts';
import { createJobQueue } from './supply/job-queue.ts';
import { invalid, type JobRequest } from './request/job-schema.ts';
import type { JobStream, JobStreamOptions, Orchestrator, OrchestratorOptions } from './orchestrator.ts';
import { checkJobNetwork } from './network/job-network.ts';
import { NETWORK_PORT, type NetworkPort } from './network/network-port.ts';
import { readSettings, type OrchestratorSettings } from './request/orchestrator-settings.ts';
import { startRegularSweep } from './regular-sweep.ts';
import { skillSource } from './request/skill-source.ts';
import { createSandboxSupply } from './supply/sandbox-supply.ts';
import { createSkillCode } from './skill-code/create-skill-code.ts';
import { bringsCode } from './prepare/skill-tools.ts';
import { sweepRunners } from './sweep-runners.ts';
import { createTracing } from './tracing/create-tracing.ts';
import { inSpan } from './tracing/in-span.ts';
import { generationEnding } from './run/job-attributes.ts';

const encodingSchema = z.optional(z.literal('utf8'));

/**
 * Creates an orchestrator. It starts its pool and its regular sweeps. Close it when done. An orchestrator that is not closed does not keep
 * the process alive; with a pool or a `stateDir` it closes itself before the process exits.
 *
 * @throws SkillcellError `options.invalid`, and `state.write-failed` when `stateDir` cannot be written
 * @example
 * ```ts
 * import { createOrchestrator } from 'skillcell';
 *
 * await using orchestrator = createOrchestrator();
 * const result = await orchestrator.exec({ code: 'console.log(6 * 7)' });
 * console.log(result.outcome, result.stdout.text.trim());
 * // prints: succeeded 42
 * ```
 */
export function createOrchestrator(options: OrchestratorOptions = {}): Orchestrator {
  const settings = readSettings(options);
  const { runners, logger } = settings;
  const host = createHost(settings);
  const endSweep = startRegularSweep({ runners, intervalMs: settings.sweepIntervalMs, log: logger });
  const jobs = createBackgroundWork(() => undefined);
  // A subscription keeps the library fresh. Each job asks for the current skills, so the listener does nothing.
  const watching = settings.source?.subscribe?.(() => {});
  let closing: Promise<void> | undefined;
  const needsClose = settings.pool.size > 0 || settings.stateDir !== undefined;
  const forget = needsClose ? closeBeforeExit(() => orchestrator.close()) : () => undefined;

  /** Called within the span, so that a refused job has a span too. */
  const requireOpen = (action: string): void => {
    if (closing !== undefined) throw closed(action);
  };

  const run = async (
    request: JobRequest,
    events?: EventStream,
    { skills, ...options }: JobStreamOptions = {},
  ): Promise<JobResult> => {
    const check = (): void => {
      requireOpen('accept the job');
      // Sessions have their own method, which also creates their runs.
      if (request.kind === 'session') throw invalid('kind must be exec, codegen or script, got "session"');
    };
    const result = acceptJob(host, request, events, { ...options, check, source: skills && skillSource(skills) });
    jobs.add(result);
    return result;
  };

  const generating = new AbortController();
  const generate = async (given: GenerateOptions): Promise<Generation> => {
    const { model } = settings;
    const span = host.tracing.begin('job', { 'skillcell.job.kind': 'generate' });
    const answer = async (): Promise<Generation> => {
      requireOpen('generate an answer');
      const { signal } = generating;
      const { skills: refs = [], consumer, includeInternal } = Object(given) as GenerateOptions;
      const asked = { consumer, includeInternal, signal, ...(Array.isArray(refs) ? { refs } : {}) };
      const skills = await settings.source?.present(asked);
      return await generateAnswer(given, { model, skills, signal, span });
    };
    const generation = inSpan(span, answer, { ended: generationEnding });
    jobs.add(generation);
    return generation;
  };

  const orchestrator: Orchestrator & NetworkPort = {
    skills: settings.skills,
    tools: host.tools,
    exec: (given) => run({ ...given, kind: 'exec' }),
    codegen: (given) => run({ ...given, kind: 'codegen' }),
    generate: generate as Orchestrator['generate'],
    script: (given) => run({ ...given, kind: 'script' }),
    stream: (given, options) => streamJob(given, (request, events) => run(request, events, options)),
    async session(given = {}) {
      const { openSession } = await import('./session/open-session.ts');
      return await openSession(host, given, { onJob: jobs.add, check: () => requireOpen('open the session') });
    },
    cancel(jobId, reason = 'cancel() was called') {
      const cancellation = host.active.get(jobId);
      cancellation?.cancel(reason);
      return cancellation !== undefined;
    },
    readArtifact: readArtifact(host.artifacts),
    artifact: (jobId, path) => Readable.from([host.artifacts.take(jobId, path)]),
    [NETWORK_PORT]: (asked) => checkJobNetwork(asked, settings.network)?.told,
    warm: () => host.supply.filled(),
    poolMetrics: () => host.supply.metrics(),
    probe: async () => (await Promise.all(runners.map((runner) => runner.probe()))).flat(),
    sweep: () => sweepRunners(runners),
    close() {
      forget();
      watching?.[Symbol.dispose]();
      generating.abort(closed('go on'));
      return (closing ??= closeHost(host, jobs, endSweep));
    },
    [Symbol.asyncDispose]: () => orchestrator.close(),
  };
  return orchestrator;
}

function closed(action: string): SkillcellError {
  return new SkillcellError('orchestrator.closed', `Cannot ${action}: the orchestrator is closed.`);
}

function createHost(settings: OrchestratorSettings): JobHost {
  const { logger, runners, allowUnisolated, pool } = settings;
  // Open the journal first: if the folder cannot be written, nothing must be started.
  const journal = openJournal(settings);
  const queue = createJobQueue(settings.concurrency, settings.queue);
  const supply = createSandboxSupply({
    runners,
    allowUnisolated,
    pool,
    skillCode: settings.skillCode === 'sandbox' && bringsCode(settings.source),
    network: settings.network !== undefined,
    isBusy: () => queue.running > 0,
    onFailure: (error) => logger?.warn({ err: error }, 'a warm sandbox could not be started or ended'),
  });
  const leaving = createBackgroundWork((error) => logger?.warn({ err: error }, 'a sandbox could not be ended'));
  const artifacts = createArtifactStore(settings.keptArtifactBytes);
  const skillCode =
    settings.skillCode === 'off'
      ? undefined
      : createSkillCode({
          supply,
          leaving,
          limits: settings.sandboxLimits,
          mode: settings.skillCode,
          trustedRoots: settings.trustedSkillRoots,
        });
  const [active, running, sessions] = [new Map(), new Map(), new Set<string>()];
  const tracing = createTracing(logger);
  const egress = settings.network === undefined ? undefined : startEgress(settings.network);
  const shared = {
    settings,
    egress,
    queue,
    supply,
    skillCode,
    artifacts,
    tracing,
    journal,
    active,
    running,
    sessions,
    leaving,
  };
  const host: JobHost = { ...shared, tools: [] };
  host.tools.push(...settings.tools, ...builtInTools(host));
  return host;
}

function openJournal({ stateDir, logger }: OrchestratorSettings): JobJournal | undefined {
  if (stateDir === undefined) return undefined;
  return openJobJournal(stateDir, ({ jobId }) => {
    logger?.warn({ jobId }, 'a job of a dead host was recorded as failed');
  });
}

function streamJob(
  given: JobRequest,
  run: (request: JobRequest, events: EventStream) => Promise<JobResult>,
): JobStream {
  const events = createEventStream();
  const jobId = given.jobId ?? randomUUID();
  const result = run({ ...given, jobId }, events);
  result.then(
    () => events.end(),
    (error: unknown) => {
      void events.push({ type: 'faulted', jobId, error: asOurs(error) });
      events.end();
    },
  );
  return { jobId, result, [Symbol.asyncIterator]: () => events[Symbol.asyncIterator]() };
}

function readArtifact(artifacts: ArtifactStore): Orchestrator['readArtifact'] {
  async function read(result: Pick<JobResult, 'jobId'>, path: string): Promise<Buffer>;
  async function read(result: Pick<JobResult, 'jobId'>, path: string, encoding: 'utf8'): Promise<string>;
  async function read({ jobId }: Pick<JobResult, 'jobId'>, path: string, encoding?: 'utf8'): Promise<Buffer | string> {
    checkOptions(encodingSchema, encoding, { action: 'read an artifact', whole: 'the encoding' });
    const bytes = artifacts.take(jobId, path);
    // A copy, so that a caller's changes do not affect other callers.
    return encoding === undefined ? Buffer.from(bytes) : bytes.toString(encoding);
  }
  return read;
}

/** Wraps other errors in a SkillcellError, because JSON drops the message of a plain Error. */
function asOurs(error: unknown): SkillcellError {
  if (SkillcellError.isInstance(error)) return error;
  return new SkillcellError('internal.fault', error instanceof Error ? error.message : String(error), { cause: error });
}
