import { randomUUID } from 'node:crypto';
import { createModelBudget } from '../../models/model-budget.ts';
import type { JobResult, ProgramError } from '../../contracts/jobs/result.ts';
import type { SkillsSubsystem } from '../../skills/load-subsystem.ts';
import { SkillcellError } from '../../contracts/errors/skillcell-error.ts';
import type { EmitEvent, EventStream } from '../events/event-stream.ts';
import { createJobCancellation, type JobCancellation } from './job-cancellation.ts';
import type { JobHost } from './job-host.ts';
import type { JobQueue } from '../supply/job-queue.ts';
import type { JobRequest } from '../request/job-schema.ts';
import { lostResult } from '../result/lost-result.ts';
import { type GivenSkills, isLibrary, presentSkills } from '../request/present-skills.ts';
import { type PreparedJob, prepareJob } from '../prepare/prepare-job.ts';
import { preparationOptions } from './preparation-options.ts';
import { runInSandbox } from './run-in-sandbox.ts';
import type { SessionPort } from './session-port.ts';
import { inSpan } from '../tracing/in-span.ts';
import { jobEnding } from './job-attributes.ts';
import type { TraceSpan } from '../tracing/trace-span.ts';
import { diagnostic, type Diagnostic } from '../../contracts/errors/diagnostic.ts';
import { emptyResult } from '../result/empty-result.ts';
import type { AcceptedJob } from '../result/accepted-job.ts';
import { DEFAULT_CONSUMER } from '../../contracts/jobs/job.ts';

type Asked = NonNullable<JobRequest['skills']>;

const CANCELED_EARLY = new Error('The job was canceled before it was accepted.');

/** How often a job is prepared anew because its skills changed while they were fetched. */
const LOOKS = 5;

/** What is not the same for all jobs. */
export interface AcceptOptions {
  /** Where it waits for its place. Default: the host's. */
  queue?: JobQueue;
  /** Jobs are not tried again by themselves yet; a session that is resumed is the next attempt of its job. Default: 1. */
  attempt?: number;
  /** What takes what only a session's sandbox sends. */
  session?: SessionPort;
  /** The job's own, where it has begun already. Default: one that begins below what is active here. */
  span?: TraceSpan;
  /** The skills that it has. Default: those of the host as they are now. */
  skills?: SkillsSubsystem | undefined;
  /** Refuses the job before anything else of it is looked at. */
  check?: () => void;
}

/**
 * Takes a job from its request to its result. A request that is not acceptable is refused, canceled or not; from there on a
 * job that is canceled has a result like any other.
 *
 * @throws SkillcellError when the job is not accepted, or we failed
 */
export async function acceptJob(
  host: JobHost,
  given: JobRequest,
  events: EventStream | undefined,
  options: AcceptOptions = {},
): Promise<JobResult> {
  const request = { ...given, jobId: given.jobId ?? randomUUID() };
  const { jobId, kind } = request;
  const span = options.span ?? host.tracing.begin('job', { 'skillcell.job.id': jobId, 'skillcell.job.kind': kind });
  return await inSpan(span, () => accept(host, request, events, { ...options, span }), { ended: jobEnding });
}

async function accept(
  host: JobHost,
  request: JobRequest & { jobId: string },
  events: EventStream | undefined,
  options: AcceptOptions & { span: TraceSpan },
): Promise<JobResult> {
  options.check?.();
  const { jobId } = request;
  const attempt = options.attempt ?? 1;
  if (host.active.has(jobId)) {
    throw new SkillcellError('job.invalid', `Cannot accept the job: its id is in use, got ${jobId}.`);
  }
  // From here on `cancel` and `close` find the job, also while its files and skills are read.
  const cancellation = createJobCancellation();
  host.active.set(jobId, cancellation);
  let unfollow: () => void = () => undefined;
  try {
    // Before the fields are checked, which may take as long as the code of skills takes to say what it is.
    if (request.signal instanceof AbortSignal) unfollow = cancellation.follow(request.signal);
    const job = await prepare(host, request, options.skills, cancellation.signal);
    const emit: EmitEvent = (event) => events?.push(event) ?? Promise.resolve();
    return await recorded(host, job, { emit, attempt }, () =>
      runUnlessCanceled(host, job, { ...options, attempt, cancellation, emit }),
    );
  } catch (error) {
    // It was canceled while the code of its skills was asked what it is.
    if (error !== CANCELED_EARLY) throw error;
    return canceledBeforeStart({ jobId, kind: request.kind, attempt }, cancellation.reasons);
  } finally {
    host.active.delete(jobId);
    unfollow();
  }
}

async function prepare(
  host: JobHost,
  request: JobRequest,
  given: SkillsSubsystem | undefined,
  signal: AbortSignal,
): Promise<PreparedJob> {
  const { model, skills: present } = host.settings;
  const prepared = async (looks = 1): Promise<PreparedJob> => {
    try {
      const skills = given ?? (await skillsOfJob(present, request, signal));
      return await prepareJob(request, preparationOptions(host, skills, signal));
    } catch (error) {
      const hasChanged = SkillcellError.isInstance(error) && error.code === 'store.changed';
      if (!hasChanged || given !== undefined || present === undefined || !isLibrary(present) || looks === LOOKS)
        throw error;
      await present.refresh({ signal });
      return await prepared(looks + 1);
    }
  };
  const job = await prepared().catch((error: unknown) => {
    throw signal.aborted && error === signal.reason ? CANCELED_EARLY : error;
  });
  if (job.kind === 'codegen' && job.globals.JOB.codegen?.dryRun !== true && model === undefined) {
    throw new SkillcellError('model.not-configured', 'Cannot run a codegen job: no model is configured.');
  }
  return job;
}

/** Says to journal, log and reader that a job is accepted, and how it ended. */
async function recorded(
  { journal, settings }: JobHost,
  { jobId, kind }: PreparedJob,
  { emit, attempt }: { emit: EmitEvent; attempt: number },
  run: () => Promise<JobResult>,
): Promise<JobResult> {
  const log = settings.logger;
  const accepted = { jobId, kind, attempt };
  journal?.accept(accepted);
  log?.info({ jobId, kind }, 'job accepted');
  void emit({ type: 'accepted', jobId });
  let result: JobResult;
  try {
    result = await run();
  } catch (error) {
    // An accepted job has one recorded end, also where we are the ones who failed.
    const code = SkillcellError.isInstance(error) ? error.code : 'internal.fault';
    journal?.finish(lostResult(accepted, code, error instanceof Error ? error.message : String(error)));
    throw error;
  }
  journal?.finish(result);
  log?.info({ jobId, outcome: result.outcome, wallMs: result.usage.wallMs }, 'job finished');
  void emit({ type: 'finished', jobId, result });
  return result;
}

async function runUnlessCanceled(
  host: JobHost,
  job: PreparedJob,
  {
    cancellation,
    emit,
    attempt,
    session,
    queue = host.queue,
    span,
  }: AcceptOptions & {
    attempt: number;
    cancellation: JobCancellation;
    emit: EmitEvent;
    span: TraceSpan;
  },
): Promise<JobResult> {
  const { signal, reasons } = cancellation;
  const budget = createModelBudget(job.request.budget);
  const result = await runInSandbox(host, job, { attempt, signal, emit, budget, session, span }, queue);
  if (result !== undefined) return withReasons(result, reasons);
  return canceledBeforeStart({ jobId: job.jobId, kind: job.kind, attempt }, reasons);
}

/** The result of a job that was canceled before it had a sandbox. */
function canceledBeforeStart(job: AcceptedJob, reasons: readonly string[]): JobResult {
  return withReasons({ ...emptyResult(job), outcome: 'canceled' }, reasons);
}

/** Says in the result of a canceled job why it was: the first reason as its error, later ones as diagnostics. */
function withReasons(result: JobResult, reasons: readonly string[]): JobResult {
  if (result.outcome !== 'canceled') return result;
  const [first = 'no reason was given', ...later] = reasons;
  const error: ProgramError = { name: 'Canceled', message: first, stack: '' };
  return { ...result, error, diagnostics: [...result.diagnostics, ...later.map(canceledAgain)] };
}

function canceledAgain(reason: string): Diagnostic {
  return diagnostic('job.canceled-again', `The job was canceled once more: ${reason}`);
}

/**
 * The skills that a job keeps to its end: those of its submission, with those whole that it names. What else it turns out to need is fetched of the
 * same snapshot.
 *
 * @param request not checked yet
 * @throws SkillcellError `store.unavailable`, or the reason of the signal
 */
async function skillsOfJob(
  skills: GivenSkills | undefined,
  request: JobRequest,
  signal: AbortSignal,
): Promise<SkillsSubsystem | undefined> {
  const { refs = [], consumer = DEFAULT_CONSUMER, includeInternal } = Object(request.skills) as Asked;
  const named = [...(request.kind === 'script' ? [request.skill] : []), ...(Array.isArray(refs) ? refs : [])];
  // What is malformed is refused by the checks that follow.
  const isNamed = typeof consumer === 'string' && named.every((ref) => typeof ref === 'string');
  return isNamed
    ? await presentSkills(skills, { refs: named, consumer, includeInternal, signal })
    : await presentSkills(skills, { refs: [], signal });
}
