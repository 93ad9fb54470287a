import { diagnostic, type Diagnostic } from '../../contracts/errors/diagnostic.ts';
import type { JobResult } from '../../contracts/jobs/result.ts';
import { runWithSkills } from '../../skills/index.ts';
import type { JobHost } from './job-host.ts';
import type { JobQueue } from '../supply/job-queue.ts';
import type { PreparedJob } from '../prepare/prepare-job.ts';
import { jobResult } from '../result/job-result.ts';
import { decideJob } from './decide-job.ts';
import { createProgramRuns } from './program-runs.ts';
import type { SandboxRuns } from './run-ground.ts';
import { runJob, type RunJobOptions } from './run-job.ts';
import type { SuppliedSandbox } from '../supply/sandbox-supply.ts';
import { inSpan } from '../tracing/in-span.ts';
import { preparedAttributes } from './job-attributes.ts';
import type { SpanEnding } from '../tracing/trace-span.ts';

/** Options of one attempt of a job. */
export interface AttemptOptions extends Pick<RunJobOptions, 'attempt' | 'signal' | 'emit' | 'budget' | 'span'> {
  /** Gives the job its place. */
  queue: JobQueue;
  /** @default the runs of the job's own program */
  runs: SandboxRuns | undefined;
}

/**
 * Waits for a place and a sandbox, and runs the job in it.
 *
 * @throws SkillcellError when we failed
 */
export async function runAttempt(host: JobHost, job: PreparedJob, options: AttemptOptions): Promise<JobResult> {
  const { queue, attempt, signal, span } = options;
  const accepted = { jobId: job.jobId, kind: job.kind, attempt };
  const canceled = (): JobResult => jobResult({ accepted, job, ended: { outcome: 'canceled' } });
  const release = await unlessCanceled(signal, () => queue.enter(signal));
  if (release === undefined) return canceled();
  try {
    const { next, complete } = await decideJob(host, job, options);
    if ('ended' in next) return complete(next.ended);
    span.set(preparedAttributes(next.job));
    const take = () => unlessCanceled(signal, () => takeSandbox(host, next.job, signal));
    const taken = await inSpan(span.begin('start'), take, { ended: startEnding });
    return complete(taken === undefined ? canceled() : await runIn(taken, host, next.job, options));
  } finally {
    release();
  }
}

/** Returns the result of `work`; undefined if it failed and the job is canceled. */
async function unlessCanceled<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    if (signal.aborted) return undefined;
    throw error;
  }
}

function startEnding(taken: SuppliedSandbox | undefined): SpanEnding {
  if (taken === undefined) return { error: 'canceled' };
  const { runner, isolation } = taken.session.sandbox;
  return {
    attributes: {
      'skillcell.sandbox.runner': runner,
      'skillcell.sandbox.isolation': isolation,
      'skillcell.sandbox.warm': taken.warm,
    },
  };
}

function takeSandbox({ supply }: JobHost, job: PreparedJob, signal: AbortSignal): Promise<SuppliedSandbox> {
  const { request, language, limits } = job;
  return supply.take({ runner: request.runner ?? 'auto', isolation: request.isolation, language, limits }, signal);
}

async function runIn(
  { session, warm, diagnostics }: SuppliedSandbox,
  { settings, artifacts, running, leaving, skillCode }: JobHost,
  job: PreparedJob,
  { attempt, emit, budget, span, ...options }: AttemptOptions,
): Promise<JobResult> {
  const { approve, model, logger: log } = settings;
  const { jobId, subsystem: skills } = job;
  const { sandbox } = session;
  const { runner, isolation } = sandbox;
  log?.debug({ jobId, runner, isolation, warm }, 'sandbox taken');
  void emit({ type: 'started', jobId, runner, isolation, warm, diagnostics });
  running.set(jobId, job);
  const code = job.skillCode === undefined ? undefined : skillCode?.open(job.skillCode);
  const runs = options.runs ?? createProgramRuns({ model, budget });
  try {
    const { result, kept } = await runJob(job, session, runs, {
      signal: code === undefined ? options.signal : AbortSignal.any([options.signal, code.signal]),
      attempt,
      emit,
      budget,
      span,
      approve,
      warm,
      diagnostics,
      withSkills: (fn) => (skills === undefined ? fn() : runWithSkills(skills, fn)),
      onToolFailure: (tool, err, run) =>
        log?.error({ jobId, ...(run === undefined ? {} : { run }), tool, err }, 'a tool failed'),
    });
    code?.throwIfChanged();
    const dropped = artifacts.keep(jobId, kept);
    return { ...result, diagnostics: [...result.diagnostics, ...dropped.map(artifactsDropped)] };
  } finally {
    running.delete(jobId);
    code?.close();
    // The sandbox is removed in the background, after the caller has its result; `close` waits for that.
    leaving.add(afterCaller(() => sandbox.kill('its job is over')));
  }
}

function artifactsDropped(jobId: string): Diagnostic {
  return diagnostic('artifact.dropped', `The artifacts of the job ${jobId} are not in memory any more.`);
}

/** Begins when the caller of the job has had its turn. */
async function afterCaller(work: () => Promise<void>): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
  await work();
}
