import { randomUUID } from 'node:crypto';
import { createModelBudget } from '../../models/model-budget.ts';
import type { JobResult } from '../../contracts/jobs/result.ts';
import type { SkillsSubsystem } from '../../skills/load-subsystem.ts';
import { SkillcellError } from '../../contracts/errors/skillcell-error.ts';
import type { EmitEvent, EventStream } from '../events/event-stream.ts';
import { createJobCancellation } from './job-cancellation.ts';
import type { JobHost } from './job-host.ts';
import type { JobQueue } from '../supply/job-queue.ts';
import type { JobRequest } from '../request/job-schema.ts';
import type { SkillSource } from '../request/skill-source.ts';
import { type PreparedJob, prepareJob } from '../prepare/prepare-job.ts';
import { preparationOptions } from './preparation-options.ts';
import { jobResult, lostResult, withReasons } from '../result/job-result.ts';
import type { SandboxRuns } from './run-ground.ts';
import { inSpan } from '../tracing/in-span.ts';
import { jobEnding, preparedAttributes } from './job-attributes.ts';
import type { SpanEnding, TraceSpan } from '../tracing/trace-span.ts';
import type { AcceptedJob } from '../result/accepted-job.ts';
import { DEFAULT_CONSUMER } from '../../contracts/jobs/job.ts';
import { diagnostic, type Diagnostic } from '../../contracts/errors/diagnostic.ts';
import { runWithSkills } from '../../skills/index.ts';
import { decideJob } from './decide-job.ts';
import { createProgramRuns } from './program-runs.ts';
import { type OpenNetwork, openJobNetwork } from '../network/open-job-network.ts';
import { DEFAULT_ISOLATION } from '../supply/sandbox-places.ts';
import { repeatLost } from './repeat-lost.ts';
import { runJob, type RunJobOptions } from './run-job.ts';
import { type CallGuard, createCallTally, type CallTally } from '../../tools/calls/call-tally.ts';
import type { SuppliedSandbox } from '../supply/sandbox-supply.ts';

/** Options of one attempt of a job. */
interface AttemptOptions extends Pick<RunJobOptions, 'attempt' | 'signal' | 'emit' | 'budget' | 'span'> {
  /** Gives the job its place. */
  queue: JobQueue;
  /** @default the runs of the job's own program */
  runs: SandboxRuns | undefined;
  guard: CallGuard;
}

/** Options of the run in one sandbox. */
interface RunningOptions {
  tally: CallTally;
  network: OpenNetwork | undefined;
}

type Asked = NonNullable<JobRequest['skills']>;

const CANCELED_EARLY = new Error('The job was canceled before it was accepted.');

/** Maximum number of preparations of a job whose skills change while they are fetched. */
const LOOKS = 5;

/** Options of {@link acceptJob}. */
export interface AcceptOptions extends CallGuard {
  /** Where the job waits for its place. @default the queue of the host */
  queue?: JobQueue;
  /** Number of the first attempt; a resumed session is the next attempt of its job. @default 1 */
  attempt?: number | undefined;
  /** The runs of the job's sandbox. @default the runs of its own program */
  runs?: SandboxRuns;
  /** The job's span, if it has begun already. @default a new span below the active span */
  span?: TraceSpan;
  /** Skills of the job. @default the current skills of the host */
  skills?: SkillsSubsystem | undefined;
  /** Skills of the job, which are looked up with its references. @default those of the host */
  source?: SkillSource | undefined;
  /** Whether the job has `load_skill` and all tools of its skills. @default false */
  skillTools?: boolean | undefined;
  /** Throws to refuse the job, before anything else is checked. */
  check?: () => void;
}

/**
 * Takes a job from its request to its result. An invalid request is refused, even if it is canceled. After acceptance, a canceled job has
 * a result like any other.
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
  {
    check,
    skills,
    source,
    skillTools,
    attempt = 1,
    queue = host.queue,
    runs,
    beforeChange,
    mayCall,
    span,
  }: AcceptOptions & { span: TraceSpan },
): Promise<JobResult> {
  check?.();
  const { jobId, kind } = request;
  if (host.active.has(jobId)) {
    throw new SkillcellError('job.invalid', `Cannot accept the job: its id is in use, got ${jobId}.`);
  }
  // From here on `cancel` and `close` find the job, even while its files and skills are read.
  const cancellation = createJobCancellation();
  const { signal, reasons } = cancellation;
  host.active.set(jobId, cancellation);
  let unfollow: () => void = () => undefined;
  try {
    // Follow the signal before the fields are checked: code of skills may take long to describe its tools.
    if (request.signal instanceof AbortSignal) unfollow = cancellation.follow(request.signal);
    const job = await prepare(host, request, { skills, source: source ?? host.settings.source, skillTools }, signal);
    const emit: EmitEvent = (event) => events?.push(event) ?? Promise.resolve();
    const accepted = { jobId, kind, attempt };
    const record = recordJob(host, accepted, emit);
    try {
      const budget = createModelBudget(job.request.budget);
      const result = await runAttempt(host, job, {
        queue,
        attempt,
        signal,
        emit,
        budget,
        runs,
        span,
        guard: { beforeChange, mayCall },
      });
      return record.finished(withReasons(result, reasons));
    } catch (error) {
      record.failed(error);
      throw error;
    }
  } catch (error) {
    if (error !== CANCELED_EARLY) throw error;
    // Canceled while the code of its skills described its tools.
    return withReasons(jobResult({ accepted: { jobId, kind, attempt }, ended: { outcome: 'canceled' } }), reasons);
  } finally {
    host.active.delete(jobId);
    unfollow();
  }
}

async function prepare(
  host: JobHost,
  request: JobRequest,
  { skills: given, source, skillTools = false }: Pick<AcceptOptions, 'skills' | 'source' | 'skillTools'>,
  signal: AbortSignal,
): Promise<PreparedJob> {
  const { model } = host.settings;
  const prepared = async (looks = 1): Promise<PreparedJob> => {
    try {
      const skills = given ?? (await skillsOfJob(source, request, signal));
      return await prepareJob(request, preparationOptions(host, skills, signal, skillTools));
    } catch (error) {
      const hasChanged = SkillcellError.isInstance(error) && error.code === 'store.changed';
      if (!hasChanged || given !== undefined || source === undefined || looks === LOOKS) throw error;
      await source.refresh({ signal });
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

/** Records the end of an accepted job: in the journal, the log and the events. */
interface JobRecord {
  finished(result: JobResult): JobResult;
  failed(error: unknown): void;
}

/** Records that a job is accepted. */
function recordJob({ journal, settings: { logger } }: JobHost, accepted: AcceptedJob, emit: EmitEvent): JobRecord {
  const { jobId, kind } = accepted;
  let isOver = false;
  journal?.accept(accepted);
  logger?.info({ jobId, kind }, 'job accepted');
  void emit({ type: 'accepted', jobId });
  return {
    finished(result) {
      isOver = true;
      journal?.finish(result);
      logger?.info({ jobId, outcome: result.outcome, wallMs: result.usage.wallMs }, 'job finished');
      void emit({ type: 'finished', jobId, result });
      return result;
    },
    failed(error) {
      if (isOver) return;
      // An accepted job has one recorded end, even if we failed.
      const code = SkillcellError.isInstance(error) ? error.code : 'internal.fault';
      journal?.finish(lostResult(accepted, code, error instanceof Error ? error.message : String(error)));
    },
  };
}

/**
 * The skills that a job keeps to its end: the state at its submission, with the named skills fetched completely. Other skills are fetched
 * later from the same snapshot.
 *
 * @param request not checked yet
 * @throws SkillcellError `store.unavailable`, or the reason of the signal
 */
async function skillsOfJob(
  source: SkillSource | undefined,
  request: JobRequest,
  signal: AbortSignal,
): Promise<SkillsSubsystem | undefined> {
  const { refs = [], consumer = DEFAULT_CONSUMER, includeInternal } = Object(request.skills) as Asked;
  const named = [...(request.kind === 'script' ? [request.skill] : []), ...(Array.isArray(refs) ? refs : [])];
  // Malformed fields are refused by the checks that follow.
  const isNamed = typeof consumer === 'string' && named.every((ref) => typeof ref === 'string');
  return isNamed
    ? await source?.present({ refs: named, consumer, includeInternal, signal })
    : await source?.present({ refs: [], signal });
}

/**
 * Waits for a place and a sandbox, and runs the job in it.
 *
 * @throws SkillcellError when we failed
 */
async function runAttempt(host: JobHost, job: PreparedJob, options: AttemptOptions): Promise<JobResult> {
  const { queue, attempt, signal, span } = options;
  const { jobId, kind } = job;
  const canceled = (number = attempt): JobResult =>
    jobResult({ accepted: { jobId, kind, attempt: number }, job, ended: { outcome: 'canceled' } });
  const release = await unlessCanceled(signal, () => queue.enter(signal));
  if (release === undefined) return canceled();
  try {
    const { next, complete } = await decideJob(host, job, options);
    if ('ended' in next) return complete(next.ended);
    span.set(preparedAttributes(next.job));
    const tally = createCallTally(options.guard);
    // The runs of a session cannot begin anew. Attempts of a dead process count.
    const most = options.runs === undefined ? Math.max(1, host.settings.attempts - attempt + 1) : 1;
    const once = async (tried: PreparedJob, number: number): Promise<JobResult> => {
      const network = await openNetwork(host, tried, options);
      try {
        const take = () => unlessCanceled(signal, () => takeSandbox(host, tried, options));
        const taken = await inSpan(span.begin('start'), take, { ended: startEnding });
        if (taken === undefined) return canceled(number);
        return await runIn(taken, host, tried, { ...options, attempt: number, tally, network });
      } finally {
        await network?.close();
      }
    };
    return complete(await repeatLost(next.job, { attempt, most, signal, emit: options.emit, tally }, once));
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

/** Opens the network of a job before its sandbox starts: a secret without a value refuses the job. */
async function openNetwork(
  { egress, settings: { network, logger } }: JobHost,
  { jobId, limits, network: asked }: PreparedJob,
  { emit }: AttemptOptions,
): Promise<OpenNetwork | undefined> {
  if (asked === undefined || egress === undefined || network === undefined) return undefined;
  return await openJobNetwork(asked, {
    ...{ jobId, limits, settings: network, egress },
    onRow: (request) => void emit({ type: 'network', jobId, request }),
    onAuditFailure: (err) =>
      logger?.error({ jobId, err }, 'the audit of the network failed, so no request is made any more'),
  });
}

function takeSandbox(
  { supply }: JobHost,
  { jobId, request, language, limits, network }: PreparedJob,
  { signal, emit }: AttemptOptions,
): Promise<SuppliedSandbox> {
  // Level none cannot hold a program to its rules.
  const isolation = request.isolation ?? (network === undefined ? undefined : DEFAULT_ISOLATION);
  const onWaiting = (reason: string): void => void emit({ type: 'waiting', jobId, reason });
  return supply.take({ runner: request.runner ?? 'auto', isolation, language, limits }, signal, onWaiting);
}

async function runIn(
  { session, warm, diagnostics }: SuppliedSandbox,
  { settings, artifacts, running, leaving, skillCode }: JobHost,
  job: PreparedJob,
  { attempt, emit, budget, span, tally, network, ...options }: AttemptOptions & RunningOptions,
): Promise<JobResult> {
  const { approve, model, logger: log } = settings;
  const { jobId, subsystem: skills } = job;
  const { sandbox } = session;
  const { runner, isolation, worker } = sandbox;
  log?.debug({ jobId, runner, isolation, warm }, 'sandbox taken');
  const where = worker === undefined ? {} : { worker };
  void emit({ type: 'started', jobId, runner, isolation, ...where, warm, diagnostics });
  running.set(jobId, job);
  const code = job.skillCode === undefined ? undefined : skillCode?.open(job.skillCode);
  const runs = options.runs ?? createProgramRuns({ model, budget, tally });
  try {
    const { result, kept } = await runJob(job, session, runs, {
      signal: code === undefined ? options.signal : AbortSignal.any([options.signal, code.signal]),
      attempt,
      emit,
      budget,
      span,
      approve,
      network,
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
