import { askModel, type AskModelOptions } from '../broker/ask-model.ts';
import { BudgetReachedError } from '../broker/model-budget.ts';
import { ModelTimeoutError } from '../broker/model-timeout-error.ts';
import { DECISION_CONSUMER, type SelectOptions } from '../contracts/decision.ts';
import type { CodegenOptions } from '../contracts/job.ts';
import type { JobResult } from '../contracts/result.ts';
import { createDecision, type Decided, type Decision } from '../decision/decide.ts';
import { runWithSkills } from '../skills/index.ts';
import { handOver } from './hand-over.ts';
import type { JobHost } from './job-host.ts';
import type { PreparedJob } from './prepare-job.ts';
import type { RunJobOptions } from './run-job.ts';
import { unstartedResult, type UnstartedEnding } from './unstarted-result.ts';

/** Runs a job in a sandbox; undefined when it was canceled before it had one. */
export type RunPrepared = (job: PreparedJob) => Promise<JobResult | undefined>;

/**
 * Has a model decide on a job that asks for it, and runs what is handed over. A decision for a text ends the job without a sandbox.
 *
 * @throws SkillcellError when we failed, or the model did
 */
export async function runDecided(
  host: JobHost,
  job: PreparedJob,
  options: Pick<RunJobOptions, 'attempt' | 'signal' | 'budget'>,
  run: RunPrepared,
): Promise<JobResult | undefined> {
  const { request, limits } = job;
  const { skills, model } = host.settings;
  if (request.kind !== 'codegen' || (request.select ?? false) === false || model === undefined) return await run(job);
  const started = performance.now();
  const overdue = new AbortController();
  const timer = setTimeout(() => overdue.abort(), limits.jobTimeoutMs);
  const signal = AbortSignal.any([options.signal, overdue.signal]);
  const decision = prepareDecision(host, { ...job, request }, { gateway: model, signal, budget: options.budget });
  let decided: Decided | undefined;
  let ending: UnstartedEnding | undefined;
  try {
    decided = await (skills === undefined ? decision.run() : runWithSkills(skills, decision.run));
  } catch (error) {
    ending = endingOf(error, job, options.signal, overdue.signal);
    if (ending === undefined) throw error;
  } finally {
    clearTimeout(timer);
  }
  const decisionMs = performance.now() - started;
  const finish = (result: JobResult): JobResult => ({
    ...result,
    usage: { ...result.usage, wallMs: Math.round(((result.usage.wallMs ?? 0) + decisionMs) * 1000) / 1000 },
    decision: decision.record,
  });
  if (decided === undefined) return finish(unstartedResult(job, options.attempt, ending ?? { outcome: 'failed' }));
  if ('fault' in decided.action) {
    const error = { name: 'DecisionError', message: decided.action.fault, stack: '' };
    return finish(unstartedResult(job, options.attempt, { outcome: 'failed', error }));
  }
  const action = decided.action.value;
  if (action.action === 'text') return finish(textResult(job, options.attempt, action.text, decided));
  const handed = handOver({ ...job, request }, decided, action, skills);
  decision.record.handover = handed.handover;
  // The job has one clock, and the decision was on it.
  const jobTimeoutMs = Math.max(1, Math.round(limits.jobTimeoutMs - decisionMs));
  const result = await run({ ...handed.job, limits: { ...limits, jobTimeoutMs } });
  return finish(result ?? unstartedResult(job, options.attempt, { outcome: 'canceled' }));
}

/** A job of which code is asked for. */
type CodegenJob = PreparedJob & { request: { kind: 'codegen' } & CodegenOptions };

function prepareDecision(
  host: JobHost,
  job: CodegenJob,
  asking: Pick<AskModelOptions, 'gateway' | 'signal' | 'budget'>,
): Decision {
  const { request, limits, globals } = job;
  const select: SelectOptions = typeof request.select === 'object' ? request.select : {};
  return createDecision({
    task: request.task,
    files: job.files.map(({ destination }) => destination),
    expect: globals.JOB.expect,
    tools: globals.TOOLS,
    skills: host.settings.skills,
    consumer: select.consumer ?? DECISION_CONSUMER,
    variant: globals.JOB.skills.variant,
    pool: globals.SOURCES_POOL,
    ask: (asked) =>
      askModel(asked, {
        ...asking,
        modelName: select.model ?? request.model,
        timeoutMs: limits.modelTimeoutMs,
      }),
  });
}

/** A text is the whole of its job: its value, and printed as by a program. */
function textResult(job: PreparedJob, attempt: number, text: string, { block }: Decided): JobResult {
  const result = unstartedResult(job, attempt, { outcome: 'succeeded' });
  const printed = text.endsWith('\n') ? text : `${text}\n`;
  return {
    ...result,
    stdout: { text: printed, bytes: Buffer.byteLength(printed), truncated: false },
    value: text,
    ...(block === undefined
      ? {}
      : {
          skills: { active: block.active, digest: null, instructionSha256: block.text === '' ? null : block.sha256 },
          sources: block.pool,
          diagnostics: [...result.diagnostics, ...block.diagnostics],
        }),
  };
}

/** How a decision ends that was cut short; undefined where the model or we have failed. */
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
