import { askModel, type AskModelOptions } from '../../models/ask-model.ts';
import { BudgetReachedError } from '../../models/model-budget.ts';
import type { ModelGateway } from '../../models/model-gateway.ts';
import { ModelTimeoutError } from '../../models/model-timeout-error.ts';
import { DECISION_CONSUMER, type JobDecision, type SelectOptions } from '../../contracts/jobs/decision.ts';
import type { Diagnostic } from '../../contracts/errors/diagnostic.ts';
import type { CodegenOptions } from '../../contracts/jobs/job.ts';
import type { JobResult } from '../../contracts/jobs/result.ts';
import type { Decided, DecideOptions } from '../../models/decision/decide.ts';
import { runWithSkills } from '../../skills/index.ts';
import { outputText } from '../../protocol/output-text.ts';
import { handOver } from './hand-over.ts';
import type { JobHost } from './job-host.ts';
import { selects } from '../request/job-schema.ts';
import { preparationOptions } from './preparation-options.ts';
import { modelEvents } from '../events/model-events.ts';
import type { PreparedJob } from '../prepare/prepare-job.ts';
import type { RunJobOptions } from './run-job.ts';
import { traceModels } from '../tracing/trace-models.ts';
import { jobResult, type UnstartedEnding } from '../result/job-result.ts';

/** A job after its decision. */
export interface DecidedJob {
  next: NextStep;
  /** Adds the decision and its time to the result. */
  complete(result: JobResult): JobResult;
}

/** A job to run, or the result of a job without a sandbox. */
export type NextStep = { job: PreparedJob } | { ended: JobResult };

type DecisionSurroundings = Pick<RunJobOptions, 'attempt' | 'signal' | 'budget' | 'emit' | 'span'>;

/**
 * Asks a model to decide on a job with `select`, and prepares the job anew as decided. A decision for a text ends the job.
 *
 * @throws SkillcellError when we or the model failed
 */
export async function decideJob(
  host: JobHost,
  job: PreparedJob,
  surroundings: DecisionSurroundings,
): Promise<DecidedJob> {
  const { request, limits } = job;
  const { model } = host.settings;
  if (!selects(request) || model === undefined) return { next: { job }, complete: (result) => result };
  const started = performance.now();
  const { record, next } = await decideOn({ ...job, request }, host, model, surroundings);
  const decisionMs = performance.now() - started;
  void surroundings.emit({ type: 'decision', jobId: job.jobId, decision: structuredClone(record) });
  // The time of the decision counts against the job's clock.
  const jobTimeoutMs = Math.max(1, Math.round(limits.jobTimeoutMs - decisionMs));
  return {
    next: 'ended' in next ? next : { job: { ...next.job, limits: { ...limits, jobTimeoutMs } } },
    complete({ usage, ...rest }) {
      const wallMs = Math.round(((usage.wallMs ?? 0) + decisionMs) * 1000) / 1000;
      return { ...rest, usage: { ...usage, wallMs }, decision: record };
    },
  };
}

/** A codegen job. */
type CodegenJob = PreparedJob & { request: { kind: 'codegen' } & CodegenOptions };

async function decideOn(
  job: CodegenJob,
  host: JobHost,
  gateway: ModelGateway,
  { attempt, signal, budget, emit, span }: DecisionSurroundings,
): Promise<{ record: JobDecision; next: NextStep }> {
  // Loaded lazily: few jobs use `select`.
  const { createDecision } = await import('../../models/decision/decide.ts');
  const { subsystem: skills } = job;
  const overdue = new AbortController();
  const timer = setTimeout(() => overdue.abort(), job.limits.jobTimeoutMs);
  const deadline = AbortSignal.any([signal, overdue.signal]);
  const { record, run } = createDecision(
    decisionOptions(job, {
      gateway,
      signal: deadline,
      budget,
      observe: modelEvents(job.jobId, 'decision', emit),
      around: traceModels(() => span, 'decision'),
    }),
  );
  const accepted = { jobId: job.jobId, kind: job.kind, attempt };
  const end = (ended: UnstartedEnding, diagnostics: Diagnostic[] = []): NextStep => ({
    ended: jobResult({ accepted, job, ended, diagnostics }),
  });
  try {
    const decided = await (skills === undefined ? run() : runWithSkills(skills, run));
    if ('fault' in decided.action) {
      const error = { name: 'DecisionError', message: decided.action.fault, stack: '' };
      return { record, next: end({ outcome: 'failed', error }) };
    }
    const action = decided.action.value;
    if (action.action === 'text')
      return { record, next: end(textEnding(job, action.text, decided), decided.block?.diagnostics) };
    const handed = await handOver(job, decided, action, preparationOptions(host, skills, deadline, job.skillTools));
    record.handover = handed.handover;
    return { record, next: { job: handed.job } };
  } catch (error) {
    const ending = endingOf(error, job, signal, overdue.signal);
    if (ending === undefined) throw error;
    return { record, next: end(ending) };
  } finally {
    clearTimeout(timer);
  }
}

function decisionOptions(
  job: CodegenJob,
  asking: Pick<AskModelOptions, 'gateway' | 'signal' | 'budget' | 'observe' | 'around'>,
): DecideOptions {
  const { request, limits, globals } = job;
  const select: SelectOptions = typeof request.select === 'object' ? request.select : {};
  const consumer = select.consumer ?? DECISION_CONSUMER;
  const { signal } = asking;
  return {
    task: request.task,
    files: job.files.map(({ destination }) => destination),
    expect: globals.JOB.expect,
    value: globals.JOB.codegen?.value,
    network: job.network?.told,
    tools: globals.TOOLS,
    skills: job.subsystem,
    withWhole: async (refs) => await job.subsystem?.withWhole({ refs, consumer, signal }),
    consumer,
    variant: globals.JOB.skills.variant,
    pool: globals.SOURCES_POOL,
    valueBytes: limits.valueBytes,
    ask: (asked) =>
      askModel(asked, {
        ...asking,
        modelName: select.model ?? request.model,
        timeoutMs: limits.modelTimeoutMs,
      }),
  };
}

/** The decided text is both the value and the stdout of the job. */
function textEnding(job: PreparedJob, text: string, { block }: Decided): UnstartedEnding {
  const printed = Buffer.from(text.endsWith('\n') ? text : `${text}\n`);
  const skills = block && {
    skills: { active: block.active, digest: null, instructionSha256: block.text === '' ? null : block.sha256 },
    sources: block.pool,
  };
  return {
    outcome: 'succeeded',
    stdout: outputText([printed.subarray(0, job.limits.keptOutputBytes)], printed.length),
    value: text,
    ...skills,
  };
}

/** Ending of a job whose decision was interrupted; undefined if the model or we have failed. */
function endingOf(
  error: unknown,
  { limits }: PreparedJob,
  canceled: AbortSignal,
  overdue: AbortSignal,
): UnstartedEnding | undefined {
  if (canceled.aborted) return { outcome: 'canceled' };
  if (overdue.aborted) return timeout('JobTimeout', `The job took longer than ${limits.jobTimeoutMs / 1000} s.`);
  if (error instanceof ModelTimeoutError) return timeout(error.name, error.message);
  if (!(error instanceof BudgetReachedError)) return undefined;
  const { name, message, limit } = error;
  return { outcome: 'limit', limit, error: { name, message, stack: '' } };
}

function timeout(name: string, message: string): UnstartedEnding {
  return { outcome: 'timeout', error: { name, message, stack: '' } };
}
