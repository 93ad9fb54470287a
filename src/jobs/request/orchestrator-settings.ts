import { availableParallelism } from 'node:os';
import * as z from 'zod/mini';
import { isModelGateway, isSdkModel, modelGateway } from '../../models/gateways/sdk-model-gateway.ts';
import type { ModelGateway } from '../../models/model-gateway.ts';
import type { OptionFault } from '../../tools/define/parameters-fault.ts';
import type { Approve } from '../../tools/calls/approval.ts';
import { refuseConflicts } from '../../tools/define/refuse-conflicts.ts';
import { fromSdkTools, isSdkTools, unexecutable } from '../../tools/define/sdk-tools.ts';
import type { Tool } from '../../tools/define/tool.ts';
import { checkOptions } from '../../contracts/checks/check-options.ts';
import { DEFAULT_LIMITS, type JobLimits, type SandboxLimits } from '../../contracts/jobs/limits.ts';
import { limitsSchema, sandboxLimitsSchema } from '../../contracts/jobs/limits-schema.ts';
import { ISOLATION_LEVELS } from '../../contracts/jobs/result.ts';
import { DEFAULT_MAX_SESSIONS } from '../../contracts/jobs/session.ts';
import { SkillcellError } from '../../contracts/errors/skillcell-error.ts';
import { createDockerRunner } from '../../sandboxes/docker/docker-runner.ts';
import { createLocalRunner } from '../../sandboxes/local/local-runner.ts';
import { RUNNER_CONTRACT, type Runner } from '../../sandboxes/runner.ts';
import { sandboxLimits } from '../../sandboxes/sandbox-limits.ts';
import { type GivenSkills, type SkillSource, skillSource } from './skill-source.ts';
import { networkSchema, type NetworkSettings, networkSettings } from '../network/network-settings.ts';
import { effectiveLimits } from './effective-limits.ts';
import { languageSchema } from './language-schema.ts';
import type { OrchestratorOptions, PoolOptions } from '../orchestrator.ts';
import { toolsSchema } from './tools-schema.ts';

/** Maximum delay of a Node timer; a timer with a longer delay would fire at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;
const MIB = 1024 * 1024;
const REMOTE_CONCURRENCY = 256;
const REMOTE_ATTEMPTS = 3;
const ACTION = 'create the orchestrator';

/** Checked options, with all defaults filled in. */
export interface OrchestratorSettings {
  skills: GivenSkills | undefined;
  /** The same skills, behind one interface. */
  source: SkillSource | undefined;
  model: ModelGateway | undefined;
  tools: readonly Tool[];
  approve: Approve | undefined;
  runners: readonly Runner[];
  allowUnisolated: boolean;
  concurrency: number;
  attempts: number;
  queue: number;
  maxSessions: number;
  pool: PoolOptions;
  network: NetworkSettings | undefined;
  skillCode: NonNullable<OrchestratorOptions['skillCode']>;
  trustedSkillRoots: readonly string[];
  /** Limits of warm sandboxes. */
  sandboxLimits: SandboxLimits;
  ceilings: Partial<JobLimits>;
  keptArtifactBytes: number;
  stateDir: string | undefined;
  sweepIntervalMs: number;
  logger: OrchestratorOptions['logger'];
}

const whole = (least: number, most: number): z.ZodMiniNumber =>
  z.number().check(z.int(), z.minimum(least), z.maximum(most));
const isolation = z.enum(ISOLATION_LEVELS as unknown as [string, ...string[]]);

const runnerSchema = z
  .custom<Runner>(isRunner, `must be a runner of contract ${RUNNER_CONTRACT}, such as createLocalRunner()`)
  .check(
    z.superRefine((runner, context) => {
      for (const fault of runnerFaults(runner)) context.addIssue({ code: 'custom', ...fault });
    }),
  );
const ownNames = z.superRefine<readonly Runner[]>((runners, context) => {
  const names = runners.map((runner) => runner.name);
  const again = names.findIndex((name, index) => names.indexOf(name) !== index);
  if (again < 0) return;
  context.addIssue({ code: 'custom', path: [again, 'name'], message: 'must be a name that no runner before it has' });
});

const poolSchema = z.strictObject({
  size: whole(0, 1_000),
  languages: z.optional(
    z.array(languageSchema).check(
      z.minLength(1),
      z.refine((names) => new Set(names).size === names.length, 'must name each language once'),
    ),
  ),
  isolation: z.optional(isolation),
  codegen: z.optional(z.boolean()),
  limits: z.optional(sandboxLimitsSchema),
  checkIntervalMs: z.optional(whole(1, LONGEST_TIMER_MS)),
  idleMs: z.optional(whole(1, LONGEST_TIMER_MS)),
});

const optionsSchema = z.strictObject({
  skills: z.optional(
    z.custom(
      (value) => has('importSkillset')(value) || has('subsystem', 'heads')(value),
      'must be the result of loadSkillsSubsystem or openSkillLibrary',
    ),
  ),
  model: z.optional(
    z.custom(
      (value) => isModelGateway(value) || isSdkModel(value),
      "must be a gateway or a model of the AI SDK, such as anthropic('…')",
    ),
  ),
  tools: z.optional(toolsSchema),
  approve: z.optional(z.custom((value) => typeof value === 'function', 'must be a function')),
  runners: z.optional(z.array(runnerSchema).check(z.minLength(1), ownNames)),
  allowUnisolated: z.optional(z.boolean()),
  concurrency: z.optional(whole(1, 10_000)),
  attempts: z.optional(whole(1, 10)),
  queue: z.optional(whole(0, 10_000_000)),
  maxSessions: z.optional(whole(1, 10_000)),
  pool: z.optional(poolSchema),
  network: z.optional(networkSchema),
  trustedSkillRoots: z.optional(z.array(z.string().check(z.minLength(1)))),
  skillCode: z.optional(z.enum(['sandbox', 'host', 'off'])),
  ceilings: z.optional(limitsSchema),
  keptArtifactBytes: z.optional(whole(0, Number.MAX_SAFE_INTEGER)),
  stateDir: z.optional(z.string().check(z.minLength(1))),
  sweepIntervalMs: z.optional(whole(0, LONGEST_TIMER_MS)),
  logger: z.optional(z.custom(has('info', 'warn', 'error', 'debug'), 'must be a pino logger, such as createLogger()')),
}) as unknown as z.ZodMiniType<OrchestratorOptions>;

/**
 * Checks the options of an orchestrator and fills in the defaults.
 *
 * @throws SkillcellError `options.invalid`, with the name of the field, the allowed values, and the given value
 */
export function readSettings(given: OrchestratorOptions): OrchestratorSettings {
  const asOurs = withOurTools(given);
  if (Array.isArray(asOurs.tools)) refuseConflicts(asOurs.tools, ACTION);
  const options = checkOptions(optionsSchema, asOurs, { action: ACTION });
  const runners = options.runners ?? [createDockerRunner(), createLocalRunner()];
  const ceilings = options.ceilings ?? {};
  const pool = poolSettings(options.pool ?? { size: 0 }, ceilings, runners);
  return {
    skills: options.skills,
    source: options.skills === undefined ? undefined : skillSource(options.skills),
    model: options.model === undefined ? undefined : modelGateway(options.model),
    tools: asOurs.tools ?? [],
    approve: options.approve,
    runners,
    allowUnisolated: options.allowUnisolated ?? false,
    attempts: options.attempts ?? (runners[0]?.isRemote === true ? REMOTE_ATTEMPTS : 1),
    concurrency: options.concurrency ?? defaultConcurrency(runners),
    queue: options.queue ?? 10_000,
    maxSessions: options.maxSessions ?? DEFAULT_MAX_SESSIONS,
    pool,
    network: options.network === undefined ? undefined : networkSettings(options.network),
    skillCode: options.skillCode ?? 'sandbox',
    trustedSkillRoots: options.trustedSkillRoots ?? [],
    sandboxLimits: sandboxLimits({ ...DEFAULT_LIMITS, ...pool.limits }),
    ceilings,
    keptArtifactBytes: options.keptArtifactBytes ?? 256 * MIB,
    stateDir: options.stateDir,
    sweepIntervalMs: options.sweepIntervalMs ?? 60_000,
    logger: options.logger,
  };
}

/** Jobs on this machine share its processors. Those of a fleet wait for its workers. */
function defaultConcurrency([first]: readonly Runner[]): number {
  return first?.isRemote === true ? REMOTE_CONCURRENCY : Math.max(2, availableParallelism());
}

/** Converts tools of the AI SDK to our tools, so that they are checked like ours. */
function withOurTools(given: OrchestratorOptions): OrchestratorOptions & { tools?: readonly Tool[] } {
  const { tools } = { ...given };
  if (!isSdkTools(tools)) return given as never;
  const without = unexecutable(tools);
  if (without !== undefined) throw refused(`tools.${without} must have an execute function, which makes its calls`);
  return { ...given, tools: fromSdkTools(tools) };
}

/** Checks the pool: sandboxes that no job can take would only cost memory. */
function poolSettings(pool: PoolOptions, ceilings: Partial<JobLimits>, runners: readonly Runner[]): PoolOptions {
  const levels = runners.flatMap((runner) => runner.levels);
  if (pool.isolation !== undefined && !levels.includes(pool.isolation)) {
    throw refused(`pool.isolation must be a level of the runners, one of ${levels.join(', ')}, got ${pool.isolation}`);
  }
  const over = Object.entries(pool.limits ?? {}).find(
    ([name, value]) => value > (ceilings[name as keyof JobLimits] ?? Infinity),
  );
  if (over !== undefined) {
    const [name, value] = over;
    throw refused(
      `pool.limits.${name} must be at most its ceiling, ${ceilings[name as keyof JobLimits]}, got ${value}`,
    );
  }
  // Defaults of jobs are lowered to the ceilings, so the pool's defaults must be too: otherwise no job would fit.
  return { ...pool, limits: effectiveLimits('exec', pool.limits ?? {}, ceilings) };
}

function refused(reason: string): SkillcellError {
  return new SkillcellError('options.invalid', `Cannot ${ACTION}: ${reason}.`);
}

function has(...methods: string[]): (value: unknown) => boolean {
  return (value) =>
    typeof value === 'object' &&
    value !== null &&
    methods.every((name) => typeof Reflect.get(value, name) === 'function');
}

function isRunner(value: unknown): boolean {
  return has('probe', 'start', 'sweep', 'close')(value) && (value as Runner).contract === RUNNER_CONTRACT;
}

/** Faults in the fields of a runner. The name `auto` is reserved: it stands for any runner. */
function runnerFaults({ name, levels }: Runner): OptionFault[] {
  if (typeof name !== 'string' || name === '' || name === 'auto')
    return [{ path: ['name'], message: 'must be a text that is neither empty nor auto' }];
  if (!Array.isArray(levels) || levels.length === 0)
    return [{ path: ['levels'], message: 'must be a list of levels that is not empty' }];
  const message = `must be one of ${ISOLATION_LEVELS.join(', ')}`;
  return levels.flatMap((level, index) =>
    ISOLATION_LEVELS.includes(level) ? [] : [{ path: ['levels', index], message }],
  );
}
