import * as z from 'zod/mini';
import { isModelGateway, isSdkModel, modelGateway, type SdkModel } from '../models/gateways/sdk-model-gateway.ts';
import type { ModelGateway } from '../models/model-gateway.ts';
import { checkOptions } from '../contracts/checks/check-options.ts';
import type { ExecOptions } from '../contracts/jobs/job.ts';
import type { JobResult } from '../contracts/jobs/result.ts';
import { createOrchestrator } from '../jobs/create-orchestrator.ts';
import { consumerSchema } from '../jobs/request/job-schema.ts';
import type { Orchestrator, OrchestratorOptions } from '../jobs/orchestrator.ts';
import { type GivenSkills, presentSkills } from '../jobs/request/present-skills.ts';
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

/** Runs of each eval on each side, where the caller does not say. */
export const DEFAULT_EVAL_RUNS = 5;
/** The most that a caller may ask for. */
export const MOST_EVAL_RUNS = 100;
/** The largest seed. */
export const MOST_SEED: number = 2 ** 32 - 1;

/** Told of a run of an eval. */
export type OnEvalRun = (made: MadeEvalRun, progress: EvalProgress) => void | Promise<void>;

/** What a skill is evaluated with. */
export interface EvaluateSkillOptions {
  /** Of a library, what it holds when the evaluation begins. */
  skills: SkillsSubsystem | SkillLibrary;
  /** The skill, by a reference. Its evals are in its file `evals/evals.json`. */
  skill: string;
  /** Who writes the programs. */
  model: ModelGateway | SdkModel;
  /** Runs of each eval on each side, 1 to 100. @default 5 */
  runs?: number;
  /** Whether both sides carry the skill, to see how far two equal sides come out apart. @default false */
  aa?: boolean;
  /** What the order of the runs is made from, up to 2^32 - 1. @default 1 */
  seed?: number;
  /** Whose policy holds. @default 'solver.codegen' */
  consumer?: string;
  /** Whether the skill may be an internal one. @default false */
  includeInternal?: boolean;
  /** What of a codegen job is the same for every run; a budget is that of one run. */
  job?: EvalJobOptions;
  /** What the jobs run in. */
  orchestrator?: Pick<OrchestratorOptions, 'runners' | 'allowUnisolated' | 'pool' | 'ceilings' | 'logger'>;
  /** Ends the evaluation: what ran until then is reported. */
  signal?: AbortSignal;
  /** Told of each run, with what it left; the next one waits for it. */
  onRun?: OnEvalRun;
}

const optionsSchema = z.strictObject({
  skills: z.custom<GivenSkills>(
    (value) => ['importSkillset', 'subsystem'].some((name) => typeof Object(value)[name] === 'function'),
    'must be what loadSkillsSubsystem or openSkillLibrary gives',
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
  // Checked as what they are, by the job and by the orchestrator.
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
 * Measures what a skill is worth: each of its evals is run with the skill and without it, as codegen jobs, and what the programs leave is checked by
 * code. Neither side can read the evals, and the side without the skill cannot ask for it.
 *
 * @throws SkillcellError `eval.invalid` for evals that cannot be checked, `options.invalid`, a `skills.` code; and what no run could be
 * made with, such as `runner.isolation-unmet`. What befalls single runs is in the report.
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
  const all = await presentSkills(given, { includeInternal: true, signal });
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

/** A check runs as the program that it checks did: same place, same limits. */
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
