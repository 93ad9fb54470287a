import { availableParallelism } from 'node:os';
import { Readable } from 'node:stream';
import { randomUUID } from 'node:crypto';
import type { JobEvent } from '../contracts/events.ts';
import type { JobKind, JobResult } from '../contracts/result.ts';
import { SkillcellError } from '../contracts/skillcell-error.ts';
import { createDockerRunner } from '../runners/docker/docker-runner.ts';
import { createLocalRunner } from '../runners/local/local-runner.ts';
import { createArtifactStore } from './artifact-store.ts';
import { createEventStream, type EventStream } from './event-stream.ts';
import { openJobJournal } from './job-journal.ts';
import { createJobQueue } from './job-queue.ts';
import { lostResult } from './lost-result.ts';
import type { JobRequest } from './job-schema.ts';
import type { Orchestrator, OrchestratorOptions } from './orchestrator.ts';
import { prepareJob } from './prepare-job.ts';
import { startRegularSweep } from './regular-sweep.ts';
import { runJob } from './run-job.ts';
import { createSandboxSupply } from './sandbox-supply.ts';
import { sweepRunners } from './sweep-runners.ts';
import { runWithSkills } from '../skills/index.ts';

/** Jobs are not tried again by themselves yet. */
const ATTEMPT = 1;
const SWEEP_INTERVAL_MS = 60_000;
/** What an engine that hangs does not confirm by then is left to the sweep of another host. */
const CLOSE_MS = 9_000;

/**
 * Creates an orchestrator. It starts nothing but its pool; close it when done.
 *
 * @example
 * await using orchestrator = createOrchestrator({ skills: loadSkillsSubsystem({ builtinRoot }) });
 * const result = await orchestrator.exec({ code: 'console.log(6 * 7)' });
 */
export function createOrchestrator(options: OrchestratorOptions = {}): Orchestrator {
  const runners = options.runners ?? [createLocalRunner(), createDockerRunner()];
  const queue = createJobQueue(options.concurrency ?? Math.max(2, availableParallelism()), options.queue ?? 10_000);
  const log = options.logger;
  const tools = options.tools ?? new Map();
  const active = new Map<string, AbortController>();
  const settled = new Set<Promise<unknown>>();
  const running = new Set<Promise<unknown>>();
  const artifacts = createArtifactStore();
  // Before anything is started: a folder that cannot be written refuses the whole host.
  const journal = options.stateDir === undefined ? undefined : openJobJournal(options.stateDir);
  for (const { jobId } of journal?.lost ?? []) log?.warn({ jobId }, 'a job of a dead host was recorded as failed');
  const supply = createSandboxSupply({
    runners,
    allowUnisolated: options.allowUnisolated ?? false,
    pool: options.pool ?? { size: 0 },
    isBusy: () => queue.running > 0,
    onFailure: (error) => log?.warn({ err: error }, 'a warm sandbox could not be started or ended'),
  });
  const endSweep = startRegularSweep({ runners, intervalMs: options.sweepIntervalMs ?? SWEEP_INTERVAL_MS, log });
  let closing: Promise<void> | undefined;

  const run = (request: JobRequest, events: EventStream | undefined): Promise<JobResult> => {
    const result = accept(request, events);
    const entry: Promise<unknown> = result.then(
      () => running.delete(entry),
      () => running.delete(entry),
    );
    running.add(entry);
    return result;
  };

  const accept = async (request: JobRequest, events: EventStream | undefined): Promise<JobResult> => {
    if (closing !== undefined)
      throw new SkillcellError('orchestrator.closed', 'Cannot accept the job: the orchestrator is closed.');
    const jobId = request.jobId ?? randomUUID();
    if (active.has(jobId)) {
      throw new SkillcellError('job.invalid', `Cannot accept the job: its id is in use, got ${jobId}.`);
    }
    // From here on `cancel` and `close` find the job, also while its files and skills are read.
    const cancellation = new AbortController();
    active.set(jobId, cancellation);
    let leave: () => void = () => undefined;
    /** Whether the journal waits for a result of this job. */
    let unrecorded = false;
    try {
      const model = options.model?.id ?? 'none';
      const preparation = { skills: options.skills, tools, ceilings: options.ceilings ?? {}, model };
      const job = await prepareJob({ ...request, jobId }, preparation);
      if (job.kind === 'codegen' && job.globals.JOB.codegen?.dryRun !== true && options.model === undefined) {
        throw new SkillcellError('model.not-configured', 'Cannot run a codegen job: no model is configured.');
      }
      leave = linkAbort(request.signal, cancellation);
      cancellation.signal.throwIfAborted();
      const emit = (event: JobEvent): Promise<void> => events?.push(event) ?? Promise.resolve();
      journal?.accept({ jobId, kind: job.kind, attempt: ATTEMPT });
      unrecorded = true;
      log?.info({ jobId, kind: job.kind }, 'job accepted');
      void emit({ type: 'accepted', jobId });
      const result = await runAccepted(job, cancellation.signal, emit);
      unrecorded = false;
      journal?.finish(result);
      log?.info({ jobId, outcome: result.outcome, wallMs: result.usage.wallMs }, 'job finished');
      void emit({ type: 'finished', jobId, result });
      return result;
    } catch (error) {
      // An accepted job has one recorded end, also where we are the ones who failed.
      if (unrecorded) journal?.finish(failedResult({ jobId, kind: request.kind }, error));
      throw error;
    } finally {
      active.delete(jobId);
      leave();
    }
  };

  const runAccepted = async (
    job: Awaited<ReturnType<typeof prepareJob>>,
    signal: AbortSignal,
    emit: (event: JobEvent) => Promise<void>,
  ): Promise<JobResult> => {
    const { jobId } = job;
    const release = await queue.enter(signal);
    try {
      const demand = {
        runner: job.request.runner ?? ('auto' as const),
        isolation: job.request.isolation,
        language: job.language,
        limits: job.limits,
      };
      const { session, warm } = await supply.take(demand, signal);
      const { sandbox } = session;
      log?.debug({ jobId, runner: sandbox.runner, isolation: sandbox.isolation, warm }, 'sandbox taken');
      void emit({ type: 'started', jobId, runner: sandbox.runner, isolation: sandbox.isolation, warm });
      try {
        const { result, kept } = await runJob(job, session, {
          tools,
          model: options.model,
          warm,
          attempt: ATTEMPT,
          signal,
          emit,
          withSkills: (fn) => (options.skills === undefined ? fn() : runWithSkills(options.skills, fn)),
          onToolFailure: (name, error) => log?.error({ jobId, tool: name, err: error }, 'a tool failed'),
        });
        if (kept.size > 0) artifacts.keep(jobId, kept);
        return result;
      } finally {
        // The caller has its result; what the sandbox leaves is removed beside that, and awaited by `close`.
        track(afterCaller(() => sandbox.kill('its job is over')));
      }
    } finally {
      release();
    }
  };

  const track = (work: Promise<unknown>): void => {
    const entry: Promise<unknown> = work
      .catch((error: unknown) => log?.warn({ err: error }, 'a sandbox could not be ended'))
      .finally(() => settled.delete(entry));
    settled.add(entry);
  };

  const endAll = async (): Promise<void> => {
    for (const cancellation of active.values()) cancellation.abort(canceledError());
    const ends = [supply.close(), endSweep(), ...runners.map((runner) => runner.close())];
    for (const end of ends) track(end);
    await settleWithin(CLOSE_MS, async () => {
      await Promise.allSettled(ends);
      await Promise.allSettled(running);
      while (settled.size > 0) await Promise.all(settled);
    });
    try {
      journal?.close();
    } catch (error) {
      // Their callers know that these jobs failed; the next host records them, from the journal that stays.
      log?.error({ err: error }, 'some jobs have no recorded result');
    }
  };

  const orchestrator: Orchestrator = {
    exec: (given) => run({ ...given, kind: 'exec' }, undefined),
    codegen: (given) => run({ ...given, kind: 'codegen' }, undefined),
    stream(given) {
      const events = createEventStream();
      const jobId = given.jobId ?? randomUUID();
      const result = run({ ...given, jobId }, events);
      result.then(
        () => events.end(),
        (error: Error) => {
          void events.push({ type: 'faulted', jobId, error });
          events.end();
        },
      );
      return { jobId, result, [Symbol.asyncIterator]: () => events[Symbol.asyncIterator]() };
    },
    cancel(jobId) {
      const cancellation = active.get(jobId);
      cancellation?.abort(canceledError());
      return cancellation !== undefined;
    },
    artifact: (jobId, path) => Readable.from([artifacts.take(jobId, path)]),
    warm: () => supply.filled(),
    poolMetrics: () => supply.metrics(),
    probe: async () => (await Promise.all(runners.map((runner) => runner.probe()))).flat(),
    sweep: () => sweepRunners(runners),
    close: () => (closing ??= endAll()),
    [Symbol.asyncDispose]: () => orchestrator.close(),
  };
  return orchestrator;
}

/** What is recorded of a job that ended by an error of ours, or was canceled while it waited. */
function failedResult({ jobId, kind }: { jobId: string; kind: JobKind }, error: unknown): JobResult {
  const code = SkillcellError.isInstance(error) ? error.code : 'internal.fault';
  const result = lostResult(
    { jobId, kind, attempt: ATTEMPT },
    code,
    error instanceof Error ? error.message : String(error),
  );
  return code === 'job.canceled' ? { ...result, outcome: 'canceled' } : result;
}

function canceledError(): SkillcellError {
  return new SkillcellError('job.canceled', 'Cannot run the job: it was canceled before it started.');
}

/** Begins when the caller of the job has been given its turn. */
async function afterCaller(work: () => Promise<void>): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
  await work();
}

async function settleWithin(limitMs: number, work: () => Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const overdue = new Promise<void>((resolve) => (timer = setTimeout(resolve, limitMs)));
  await Promise.race([work(), overdue]);
  clearTimeout(timer);
}

/** Passes an abort on; the returned function takes the listener away again. */
function linkAbort(signal: AbortSignal | undefined, target: AbortController): () => void {
  if (signal === undefined) return () => undefined;
  const pass = (): void => target.abort(canceledError());
  if (signal.aborted) pass();
  signal.addEventListener('abort', pass, { once: true });
  return () => signal.removeEventListener('abort', pass);
}
