import type { ModelAnswer } from '../models/model-gateway.ts';
import type { CodegenOptions } from '../contracts/jobs/job.ts';
import type { JobResult } from '../contracts/jobs/result.ts';
import { SkillcellError } from '../contracts/errors/skillcell-error.ts';
import type { Orchestrator } from '../jobs/orchestrator.ts';
import { type Assertion, CheckUnmade, type RunProduct } from './assertions/assertion.ts';
import type { PlannedEval } from './plan/eval-plan.ts';
import type { AssertionOutcome, EvalRun, EvalSide } from './eval-report.ts';
import type { EvalSkills } from './plan/eval-skills.ts';
import { sumTokens } from './report/judge-runs.ts';
import type { ObservedModel } from './observe-model.ts';
import { sideFault } from './prove-side.ts';

/** Options of a codegen job that are the same for every run. */
export type EvalJobOptions = Pick<
  CodegenOptions,
  'runner' | 'isolation' | 'language' | 'model' | 'maxAttempts' | 'limits' | 'budget' | 'env'
>;

/** A run that was made. */
export interface MadeEvalRun {
  row: EvalRun;
  /** Result of its job; absent if it had none. */
  result?: JobResult;
  /** Bytes of its artifacts, by path. */
  files: ReadonlyMap<string, Uint8Array>;
  /** Answers of the models, in order. */
  answers: ModelAnswer[];
}

/** The context of runs. */
export interface MakeRunOptions {
  orchestrator: Pick<Orchestrator, 'codegen' | 'readArtifact'>;
  model: ObservedModel;
  skills: EvalSkills;
  includeInternal: boolean | undefined;
  job: EvalJobOptions;
  signal: AbortSignal | undefined;
}

/**
 * Makes one run of an eval: a codegen job, and the checks of its output.
 *
 * @throws SkillcellError for faults that every run would have; faults of this run alone are in its row
 */
export async function makeRun(
  planned: PlannedEval,
  side: EvalSide,
  run: number,
  options: MakeRunOptions,
): Promise<MadeEvalRun> {
  const { model, skills } = options;
  model.take();
  const product = await runJob(planned, side, options);
  const requests = model.take();
  const judged: Judged =
    'failure' in product
      ? { status: 'failed', reason: product.failure, assertions: [] }
      : await judge(planned.assertions, product, sideFault(product.result, requests, side !== 'without', skills));
  const answers = requests.flatMap(({ answer }) => answer ?? []);
  const { result, files } =
    'failure' in product ? { result: undefined, files: new Map<string, Uint8Array>() } : product;
  return {
    row: {
      eval: planned.id,
      side,
      run,
      ...judged,
      ...(result === undefined ? {} : { outcome: result.outcome }),
      tokens: sumTokens(answers.map(({ usage }) => ({ input: usage.inputTokens, output: usage.outputTokens }))),
      promptSha256: requests.map(({ promptSha256 }) => promptSha256),
    },
    ...(result === undefined ? {} : { result }),
    files,
    answers,
  };
}

async function runJob(
  { prompt, files }: PlannedEval,
  side: EvalSide,
  { orchestrator, skills, includeInternal, job, signal }: MakeRunOptions,
): Promise<RunProduct | { failure: string }> {
  const carried =
    side === 'without'
      ? { refs: [], consumer: skills.without }
      : {
          refs: [skills.skill.id],
          consumer: skills.consumer,
          ...(includeInternal === undefined ? {} : { includeInternal }),
        };
  try {
    const result = await orchestrator.codegen({
      ...job,
      task: prompt,
      files,
      skills: carried,
      ...(signal === undefined ? {} : { signal }),
    });
    return { result, files: await readArtifacts(orchestrator, result) };
  } catch (error) {
    return { failure: ownFailure(error, 'eval') };
  }
}

type Judged = Pick<EvalRun, 'status' | 'reason' | 'passRate' | 'assertions'>;

async function readArtifacts(
  orchestrator: Pick<Orchestrator, 'readArtifact'>,
  result: JobResult,
): Promise<Map<string, Uint8Array>> {
  const files = new Map<string, Uint8Array>();
  for (const { path } of result.artifacts) files.set(path, await orchestrator.readArtifact(result, path));
  return files;
}

/**
 * Why a job had no result. Faults that every other run would have as well are thrown on.
 *
 * @param origin source of the job's input: an eval gives all of its runs the same input, a run the output of its program
 */
export function ownFailure(error: unknown, origin: 'eval' | 'run'): string {
  if (!SkillcellError.isInstance(error)) throw error;
  const { exitCode, retry } = error.entry;
  const isSetup =
    (exitCode === 2 && origin === 'eval') || (exitCode === 3 && !retry && !error.code.startsWith('model.'));
  if (isSetup) throw error;
  return `${error.code}: ${error.message}`;
}

async function judge(
  assertions: readonly Assertion[],
  product: RunProduct,
  fault: string | undefined,
): Promise<Judged> {
  const { outcome, error, codegen } = product.result;
  if (outcome === 'canceled') return { status: 'failed', reason: 'it was canceled', assertions: [] };
  if (error?.name === 'ModelTimeout') return { status: 'failed', reason: error.message, assertions: [] };
  // For example a budget that did not cover the first request.
  if (codegen?.attempts.length === 0)
    return { status: 'failed', reason: error?.message ?? 'nothing was written', assertions: [] };
  if (fault !== undefined) return { status: 'invalid', reason: fault, assertions: [] };
  try {
    const outcomes: AssertionOutcome[] = [];
    for (const assertion of assertions) outcomes.push(await outcomeOf(assertion, product));
    const checked = outcomes.filter(({ status }) => status !== 'unchecked');
    const passed = checked.filter(({ status }) => status === 'passed').length;
    return {
      status: 'measured',
      ...(checked.length === 0 ? {} : { passRate: passed / checked.length }),
      assertions: outcomes,
    };
  } catch (cause) {
    if (!(cause instanceof CheckUnmade)) throw cause;
    return { status: 'failed', reason: cause.message, assertions: [] };
  }
}

async function outcomeOf({ check }: Assertion, product: RunProduct): Promise<AssertionOutcome> {
  if (check === undefined) return { status: 'unchecked' };
  const { outcome, error } = product.result;
  // A program that did not succeed fails each assertion. Its missing output would pass those that forbid something.
  if (outcome !== 'succeeded')
    return {
      status: 'failed',
      reason: `the program ended as ${outcome}${error === undefined ? '' : `: ${error.message}`}`,
    };
  const reason = await check(product);
  return reason === undefined ? { status: 'passed' } : { status: 'failed', reason };
}
