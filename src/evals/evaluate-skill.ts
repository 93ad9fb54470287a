import * as z from 'zod/mini';
import { isModelGateway, isSdkModel, modelGateway, type SdkModel } from '../models/gateways/sdk-model-gateway.ts';
import type { ModelGateway } from '../models/model-gateway.ts';
import { checkOptions } from '../contracts/checks/check-options.ts';
import type { ExecOptions } from '../contracts/jobs/job.ts';
import type { JobResult } from '../contracts/jobs/result.ts';
import { createOrchestrator } from '../jobs/create-orchestrator.ts';
import { consumerSchema } from '../jobs/request/job-schema.ts';
import type { Orchestrator, OrchestratorOptions } from '../jobs/orchestrator.ts';
import { type GivenSkills, skillSource } from '../jobs/request/skill-source.ts';
import type { SkillLibrary } from '../library/snapshot/skill-library.ts';
import type { SkillsSubsystem } from '../skills/load-subsystem.ts';
import { CheckUnmade } from './assertions/assertion.ts';
import { conductEval, type EvalProgress } from './conduct-eval.ts';
import type { PlannedEval } from './plan/eval-plan.ts';
import { EVAL_REPORT_SCHEMA, type EvalSide, type SkillEvalReport } from './eval-report.ts';
import { judgeRuns } from './report/judge-runs.ts';
import { type EvalJobOptions, type MadeEvalRun, makeRun, ownFailure } from './make-run.ts';
import { observeModel } from './observe-model.ts';
import { prepareEval } from './plan/prepare-eval.ts';
import { caseReports, reportNotes } from './report-cases.ts';

/** Default number of runs of each eval on each side. */
export const DEFAULT_EVAL_RUNS = 5;
/** The most runs that a caller may request. */
export const MOST_EVAL_RUNS = 100;
/** The largest seed. */
export const MOST_SEED: number = 2 ** 32 - 1;

/** Receives each run of an eval. */
export type OnEvalRun = (made: MadeEvalRun, progress: EvalProgress) => void | Promise<void>;

/** Options of `evaluateSkill`. */
export interface EvaluateSkillOptions {
  /** Of a library, the skills that it holds when the evaluation begins. */
  skills: SkillsSubsystem | SkillLibrary;
  /** The skill, by a reference. Its evals are in its file `evals/evals.json`. */
  skill: string;
  /** The model that writes the programs. */
  model: ModelGateway | SdkModel;
  /** Runs of each eval on each side, 1 to 100. @default 5 */
  runs?: number;
  /** Whether both sides carry the skill, to measure how much equal sides differ by chance. @default false */
  aa?: boolean;
  /** Seed for the order of the runs, up to 2^32 - 1. @default 1 */
  seed?: number;
  /** The consumer whose policy applies. @default 'solver.codegen' */
  consumer?: string;
  /** Whether the skill may be an internal one. @default false */
  includeInternal?: boolean;
  /** Options of the codegen jobs, the same for every run; a budget is that of one run. */
  job?: EvalJobOptions;
  /** Options of the orchestrator that runs the jobs. */
  orchestrator?: Pick<OrchestratorOptions, 'runners' | 'allowUnisolated' | 'pool' | 'ceilings' | 'logger'>;
  /** Ends the evaluation: the runs until then are reported. */
  signal?: AbortSignal;
  /** Receives each run with its output; the next one waits for it. */
  onRun?: OnEvalRun;
}

const optionsSchema = z.strictObject({
  skills: z.custom<GivenSkills>(
    (value) => ['importSkillset', 'subsystem'].some((name) => typeof Object(value)[name] === 'function'),
    'must be a result of loadSkillsSubsystem or openSkillLibrary',
  ),
  skill: z.string().check(z.minLength(1)),
  model: z.custom<ModelGateway | SdkModel>(
    (value) => isModelGateway(value) || isSdkModel(value),
    "must be a gateway or a model of the AI SDK, such as anthropic('…')",
  ),
  runs: z.optional(z.number().check(z.int(), z.minimum(1), z.maximum(MOST_EVAL_RUNS))),
  aa: z.optional(z.boolean()),
  seed: z.optional(z.number().check(z.int(), z.minimum(0), z.maximum(MOST_SEED))),
  consumer: z.optional(consumerSchema),
  includeInternal: z.optional(z.boolean()),
  // The job and the orchestrator check these themselves.
  job: z.optional(
    z.strictObject({
      runner: z.optional(z.unknown()),
      isolation: z.optional(z.unknown()),
      language: z.optional(z.unknown()),
      model: z.optional(z.unknown()),
      maxAttempts: z.optional(z.unknown()),
      limits: z.optional(z.unknown()),
      budget: z.optional(z.unknown()),
      env: z.optional(z.unknown()),
    }),
  ),
  orchestrator: z.optional(z.record(z.string(), z.unknown())),
  signal: z.optional(z.custom<AbortSignal>((value) => value instanceof AbortSignal, 'must be an AbortSignal')),
  onRun: z.optional(z.custom((value) => typeof value === 'function', 'must be a function')),
});

/**
 * Measures the effect of a skill: each of its evals is run with the skill and without it, as codegen jobs, and code checks the output of the
 * programs. Neither side can read the evals, and the side without the skill cannot ask for it.
 *
 * @throws SkillcellError `eval.invalid` for evals that cannot be checked, `options.invalid`, a `skills.` code; and faults that every run
 * would have, such as `runner.isolation-unmet`. Faults of single runs are in the report.
 * @example
 * ```ts
 * import { mkdirSync, writeFileSync } from 'node:fs';
 * import { evaluateSkill, loadSkillsSubsystem, type ModelGateway } from 'skillcell';
 *
 * mkdirSync('skills/units/evals', { recursive: true });
 * writeFileSync('skills/units/SKILL.md', '---\nname: units\ndescription: Units in reports.\n---\nA marathon has 42195 m.\n');
 * const assertions = [{ type: 'value-equals', value: 42195 }, 'The answer is friendly.'];
 * const evals = [{ id: 'marathon', prompt: 'Hand back the length of a marathon in metres.', assertions }];
 * writeFileSync('skills/units/evals/evals.json', JSON.stringify({ skill_name: 'units', evals }));
 *
 * const model: ModelGateway = {
 *   id: 'example/reader',
 *   async generate({ system }) {
 *     const length = /marathon has (\d+)/.exec(system)?.[1] ?? '42000';
 *     const usage = { inputTokens: null, outputTokens: null };
 *     return { text: '```javascript\nexport default ' + length + ';\n```', model: 'example/reader', usage, finishReason: 'stop' };
 *   },
 * };
 * const skills = loadSkillsSubsystem({ roots: [{ kind: 'user', path: 'skills' }] });
 * const { verdict, sides, difference } = await evaluateSkill({ skills, skill: 'custom.units', model, runs: 4 });
 * console.log(verdict, sides.map(({ side, passRate }) => `${side} ${passRate}`), difference?.pValue.toFixed(2));
 * // prints: better [ 'with 1', 'without 0' ] 0.03
 * ```
 */
export async function evaluateSkill(options: EvaluateSkillOptions): Promise<SkillEvalReport> {
  checkOptions(optionsSchema, options, { action: 'evaluate a skill' });
  const {
    skills: given,
    skill: ref,
    consumer,
    includeInternal,
    runs = DEFAULT_EVAL_RUNS,
    aa = false,
    seed = 1,
  } = options;
  const { job = {}, signal, onRun } = options;
  const all = await skillSource(given).present({ includeInternal: true, signal });
  const model = observeModel(modelGateway(options.model));
  const { skills, plan } = await prepareEval(all, ref, { consumer, includeInternal }, job.language, (check) =>
    runCheck(orchestrator, check, options),
  );
  await using orchestrator = createOrchestrator({
    ...options.orchestrator,
    skills: skills.library,
    model: model.gateway,
    concurrency: 1,
  });
  const sides: [EvalSide, EvalSide] = ['with', aa ? 'again' : 'without'];
  const making = { orchestrator, model, skills, includeInternal, job, signal };
  const conducted = await conductEval({
    evals: plan.evals.length,
    sides,
    runs,
    seed,
    signal,
    make: ({ eval: index, side, run }) => makeRun(plan.evals[index] as PlannedEval, side, run, making),
    onRun,
  });
  const { results, models, interrupted } = conducted;
  const judged = judgeRuns(results, { evals: plan.evals.map(({ id }) => id), sides, runs, seed, interrupted });
  return {
    schema: EVAL_REPORT_SCHEMA,
    skill: { id: skills.skill.id, digest: skills.skill.digest },
    aa,
    runs,
    seed,
    models,
    interrupted,
    ...judged,
    evals: caseReports(plan.evals, results, sides),
    results,
    notes: [...plan.notes, ...reportNotes(plan.evals, conducted)],
  };
}

/** A check runs like the program that it checks: in the same place, with the same limits. */
async function runCheck(
  orchestrator: Orchestrator,
  check: ExecOptions,
  { job = {}, signal }: EvaluateSkillOptions,
): Promise<JobResult> {
  const { runner, isolation, limits } = job;
  try {
    return await orchestrator.exec({
      ...check,
      ...(runner === undefined ? {} : { runner }),
      ...(isolation === undefined ? {} : { isolation }),
      ...(limits === undefined ? {} : { limits }),
      ...(signal === undefined ? {} : { signal }),
    });
  } catch (error) {
    throw new CheckUnmade(`a check could not be run: ${ownFailure(error, 'run')}`);
  }
}
