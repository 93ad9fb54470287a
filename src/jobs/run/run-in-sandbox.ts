import { diagnostic, type Diagnostic } from '../../contracts/errors/diagnostic.ts';
import type { JobResult } from '../../contracts/jobs/result.ts';
import { runWithSkills } from '../../skills/index.ts';
import type { JobHost } from './job-host.ts';
import type { JobQueue } from '../supply/job-queue.ts';
import type { PreparedJob } from '../prepare/prepare-job.ts';
import { runDecided } from './run-decided.ts';
import { runJob, type RunJobOptions } from './run-job.ts';
import type { SuppliedSandbox } from '../supply/sandbox-supply.ts';
import { inSpan } from '../tracing/in-span.ts';
import { preparedAttributes } from './job-attributes.ts';
import type { SpanEnding } from '../tracing/trace-span.ts';

/** How one attempt of a job runs. */
export type AttemptOptions = Pick<RunJobOptions, 'attempt' | 'signal' | 'emit' | 'budget' | 'session' | 'span'>;

/**
 * Waits for a place and a sandbox, and runs the job in it.
 *
 * @param queue what gives the places
 * @returns undefined when the job was canceled before it had a sandbox
 * @throws SkillcellError when we failed
 */
export async function runInSandbox(
  host: JobHost,
  job: PreparedJob,
  options: AttemptOptions,
  queue: JobQueue,
): Promise<JobResult | undefined> {
  const release = await unlessCanceled(options.signal, () => queue.enter(options.signal));
  if (release === undefined) return undefined;
  try {
    return await runDecided(host, job, options, async (decided) => {
      options.span.set(preparedAttributes(decided));
      const take = () => unlessCanceled(options.signal, () => takeSandbox(host, decided, options.signal));
      const taken = await inSpan(options.span.begin('start'), take, { ended: startEnding });
      return taken === undefined ? undefined : runWith(host, decided, taken, options);
    });
  } finally {
    release();
  }
}

/** What fails for a job that is canceled fails because of that, or makes no difference any more. */
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

async function runWith(
  { settings, artifacts, running, leaving, skillCode }: JobHost,
  job: PreparedJob,
  { session, warm, diagnostics }: SuppliedSandbox,
  options: AttemptOptions,
): Promise<JobResult> {
  const { approve, model, logger: log } = settings;
  const { jobId, subsystem: skills } = job;
  const { sandbox } = session;
  log?.debug({ jobId, runner: sandbox.runner, isolation: sandbox.isolation, warm }, 'sandbox taken');
  const { runner, isolation } = sandbox;
  void options.emit({ type: 'started', jobId, runner, isolation, warm, diagnostics });
  running.set(jobId, job);
  const code = job.skillCode === undefined ? undefined : skillCode?.open(job.skillCode);
  try {
    const { result, kept } = await runJob(job, session, {
      ...options,
      signal: code === undefined ? options.signal : AbortSignal.any([options.signal, code.signal]),
      skills,
      approve,
      model,
      warm,
      diagnostics,
      withSkills: (fn) => (skills === undefined ? fn() : runWithSkills(skills, fn)),
      onToolFailure: (name, error) => log?.error({ jobId, tool: name, err: error }, 'a tool failed'),
    });
    code?.throwIfChanged();
    const dropped = artifacts.keep(jobId, kept);
    return { ...result, diagnostics: [...result.diagnostics, ...dropped.map(artifactsDropped)] };
  } finally {
    running.delete(jobId);
    code?.close();
    // The caller has its result; what the sandbox leaves is removed beside that, and awaited by `close`.
    leaving.add(afterCaller(() => sandbox.kill('its job is over')));
  }
}

function artifactsDropped(jobId: string): Diagnostic {
  return diagnostic('artifact.dropped', `The artifacts of the job ${jobId} are not in memory any more.`);
}

/** Begins when the caller of the job has been given its turn. */
async function afterCaller(work: () => Promise<void>): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
  await work();
}
