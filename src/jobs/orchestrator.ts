import type { Readable } from 'node:stream';
import type { Logger } from 'pino';
import type { ModelGateway } from '../models/model-gateway.ts';
import type { SdkModel } from '../models/gateways/sdk-model-gateway.ts';
import type { Approve } from '../tools/calls/approval.ts';
import type { SdkTools } from '../tools/define/sdk-tools.ts';
import type { Tool } from '../tools/define/tool.ts';
import type { JobEvent } from '../contracts/jobs/events.ts';
import type { GenerateOptions, Generation } from '../contracts/jobs/generation.ts';
import type { CodegenOptions, ExecOptions, ScriptOptions } from '../contracts/jobs/job.ts';
import type { Language } from '../contracts/jobs/language.ts';
import type { JobLimits } from '../contracts/jobs/limits.ts';
import type { NetworkOptions } from '../contracts/network/network-options.ts';
import type { Isolation, JobResult } from '../contracts/jobs/result.ts';
import type { Session, SessionOptions } from '../contracts/jobs/session.ts';
import type { WarmPoolCounts } from '../sandboxes/pool/warm-pool.ts';
import type { Runner, RunnerReport, SandboxLimits } from '../sandboxes/runner.ts';
import type { SweepSummary } from './sweep-runners.ts';
import type { SkillLibrary } from '../library/snapshot/skill-library.ts';
import type { SkillsSubsystem } from '../skills/load-subsystem.ts';

/** Warm sandboxes, which are started ahead of their jobs. */
export interface PoolOptions {
  /** Number of sandboxes for each language; 0 turns the pool off. @default 0 */
  size: number;
  /** @default ['javascript'] */
  languages?: Language[];
  /** Isolation level of the warm sandboxes. @default the level of a job that names neither runner nor level */
  isolation?: Isolation;
  /** Whether the modules of codegen jobs are loaded ahead as well. @default false */
  codegen?: boolean;
  /** Sandbox limits of the warm sandboxes; a job with other sandbox limits starts cold. @default DEFAULT_LIMITS */
  limits?: Partial<SandboxLimits>;
  /** Milliseconds between two checks of a waiting sandbox; a sandbox without an answer is replaced. @default 60,000 ms */
  checkIntervalMs?: number;
  /** Milliseconds without a job until all but one sandbox of each language end; the next job refills the pool. @default 300,000 ms */
  idleMs?: number;
}

/** Use and cost of the warm sandboxes of one language. */
export interface PoolMetrics extends WarmPoolCounts {
  /** Bytes of memory of one waiting sandbox, by its control group; null if no sandbox waits or there is no counter. */
  idleBytes: number | null;
}

/** Options of `createOrchestrator`. */
export interface OrchestratorOptions {
  /**
   * Skills for jobs. Without it jobs have no skills. A job keeps the state of a library at its submission until its end. The orchestrator
   * watches the library until `close`; the caller who opened the library closes it.
   */
  skills?: SkillsSubsystem | SkillLibrary;
  /**
   * Model that writes code and answers: a gateway, or a model of the AI SDK such as `anthropic('claude-sonnet-4-5')`. Its key stays
   * in this process.
   */
  model?: ModelGateway | SdkModel;
  /** Tools for jobs: tools by `defineTool`, or a record of tools of the AI SDK. A job gets the tools that its `tools` name. */
  tools?: readonly Tool[] | SdkTools;
  /** Called for each call of a tool with `approval: 'always'`. Without it, or without an answer, such a call is denied. */
  approve?: Approve;
  /**
   * Runners in order of preference: a job that names no runner gets the first runner that works and isolates enough. Level `none` is
   * tried last in any order.
   * @default docker if an engine and its image are present, else local
   */
  runners?: Runner[];
  /** Whether jobs without a demanded level may run below level `namespace` if no better level is available. @default false */
  allowUnisolated?: boolean;
  /** Maximum number of running jobs. @default the number of processors, at least 2; 256 where the first runner is a fleet */
  concurrency?: number;
  /**
   * Most attempts of a job whose sandbox is lost, from 1 to 10. It is not started again once a tool has run that may change something.
   *
   * @default 3 where the first runner is a fleet, else 1
   */
  attempts?: number;
  /** Maximum number of waiting jobs. @default 10,000 */
  queue?: number;
  /** Maximum number of open sessions. @default 16 */
  maxSessions?: number;
  pool?: PoolOptions;
  /**
   * Place for tools that skills bring as code: `sandbox` runs the code in sandboxes of its own, one for each skill and job;
   * `host` loads it into this process, from trusted roots only; `off` ignores it. See docs/skill-code.md. @default 'sandbox'
   */
  skillCode?: 'sandbox' | 'host' | 'off';
  /** Skill roots whose code may be loaded into this process if `skillCode` is `host`, besides the built-in skills. */
  trustedSkillRoots?: string[];
  /** The most that jobs may do with the network. See docs/network.md. @default no job has a network */
  network?: NetworkOptions;
  /** Maximum of each limit of a job; a default above its ceiling is lowered to it. */
  ceilings?: Partial<JobLimits>;
  /**
   * Bytes of artifacts that stay in memory for `artifact` and `readArtifact`, from jobs without `output`. The artifacts of the oldest
   * job are evicted first. @default 256 MiB
   */
  keptArtifactBytes?: number;
  /**
   * A folder that outlives this process. With it, a job is on the disk before it is `accepted`, and its result is in
   * `results/<jobId>.<attempt>.json`. The next host records the unfinished jobs of a dead host as failed with `job.host-lost`.
   * Without it, only the clean-up survives a crash.
   */
  stateDir?: string;
  /**
   * Milliseconds between two sweeps, which remove the leftovers of dead hosts; the first is soon after the start. 0 turns the regular
   * sweeps off; `sweep()` still works. @default 60,000 ms
   */
  sweepIntervalMs?: number;
  /** @default no log */
  logger?: Logger;
}

/** A job under way. Iterating yields its events from the first on; a slow reader slows the job. */
export interface JobStream extends AsyncIterable<JobEvent> {
  readonly jobId: string;
  readonly result: Promise<JobResult>;
}

/** Options of {@link Orchestrator.stream}. */
export interface JobStreamOptions {
  /** Skills of this job. @default the skills of the orchestrator */
  skills?: SkillsSubsystem | SkillLibrary | undefined;
  /**
   * Whether the program has the tool `load_skill({ skill_name })` and all tools that the skills of the job bring, beside its `tools`. For
   * `exec` and `codegen` in languages that can call tools. @default false
   */
  skillTools?: boolean | undefined;
  /** Number of the first attempt, from 1 on: of a job that a process has begun which is dead. @default 1 */
  attempt?: number | undefined;
  /**
   * Called with the id of the tool before the first call that may change something. The call waits for it, and fails if it rejects. A job
   * should not be started again after that.
   */
  beforeChange?: ((tool: string) => Promise<void>) | undefined;
  /**
   * Whether a call of a tool or of the model may begin. It waits for the answer, and is refused with `tool.job-over` if it may not.
   *
   * @default it may
   */
  mayCall?: (() => boolean | Promise<boolean>) | undefined;
}

/** Accepts jobs, runs them in sandboxes, and gives each job exactly one result. */
export interface Orchestrator extends AsyncDisposable {
  /** Skills for jobs; undefined without the option `skills`. */
  readonly skills: SkillsSubsystem | SkillLibrary | undefined;
  /** Tools that any job may name. Tools of a skill or of one job are not in the list. */
  readonly tools: readonly Tool[];
  /**
   * Runs code.
   *
   * @throws SkillcellError when the job cannot be accepted, or we failed: never because of user code.
   * @example
   * ```ts
   * import { createOrchestrator } from 'skillcell';
   *
   * await using orchestrator = createOrchestrator();
   * const { outcome, exitCode, error } = await orchestrator.exec({
   *   code: "import { readFileSync } from 'node:fs';\nthrow new Error(readFileSync('note.txt', 'utf8'));",
   *   files: { 'note.txt': 'no such month' },
   * });
   * console.log(outcome, exitCode, error?.message, error?.line);
   * // prints: failed 1 no such month 2
   * ```
   */
  exec(options: ExecOptions): Promise<JobResult>;
  /**
   * Asks the model for code and runs it.
   *
   * @throws SkillcellError as `exec`, and with a `model.` code.
   * @example
   * ```ts
   * import { createOrchestrator, type ModelGateway } from 'skillcell';
   *
   * const model: ModelGateway = {
   *   id: 'example/fixed',
   *   async generate() {
   *     const usage = { inputTokens: null, outputTokens: null };
   *     return { text: '```javascript\nconsole.log(6 * 7);\n```', model: 'example/fixed', usage, finishReason: 'stop' };
   *   },
   * };
   * await using orchestrator = createOrchestrator({ model });
   * const result = await orchestrator.codegen({ task: 'Print six times seven.' });
   * console.log(result.outcome, result.stdout.text.trim(), result.codegen?.attempts.length);
   * // prints: succeeded 42 1
   * ```
   */
  codegen(options: CodegenOptions): Promise<JobResult>;
  /**
   * Runs a script of a skill. The working folder is the skill's folder in the sandbox.
   *
   * @throws SkillcellError as `exec`, `script.not-listed`, `script.interpreter-unknown`, and `script.requirements-missing` if a
   * package that the script requires (PEP 723) is missing; then the script did not run.
   * @example
   * ```ts
   * import { mkdirSync, writeFileSync } from 'node:fs';
   * import { createOrchestrator, loadSkillsSubsystem } from 'skillcell';
   *
   * mkdirSync('skills/units/scripts', { recursive: true });
   * writeFileSync('skills/units/SKILL.md', '---\nname: units\ndescription: Units in reports.\n---\nGive SI units.\n');
   * writeFileSync('skills/units/scripts/miles.mjs', 'console.log(process.argv[2] * 1.609344);\n');
   * const skills = loadSkillsSubsystem({ roots: [{ kind: 'user', path: 'skills' }] });
   * await using orchestrator = createOrchestrator({ skills });
   * const { stdout } = await orchestrator.script({ skill: 'custom.units', script: 'scripts/miles.mjs', args: ['26'] });
   * console.log(stdout.text.trim());
   * // prints: 41.842944
   * ```
   */
  script(options: ScriptOptions): Promise<JobResult>;
  /**
   * Asks the model for an answer, without a sandbox: a text, or with `output` a value. A value that does not fit its schema is asked for
   * again, together with the fault. The system prompt holds the named skills; the policy must allow them to `consumer`.
   *
   * @throws SkillcellError `options.invalid`, a `skills.` or a `model.` code; the reason of `signal` once it is aborted
   * @example
   * ```ts
   * import { createOrchestrator, type ModelGateway } from 'skillcell';
   * import * as z from 'zod';
   *
   * const model: ModelGateway = {
   *   id: 'example/fixed',
   *   async generate({ messages }) {
   *     const text = messages.length === 1 ? '{ "title": 42 }' : '{ "title": "Forty-two" }';
   *     const usage = { inputTokens: null, outputTokens: null };
   *     return { text, model: 'example/fixed', usage, finishReason: 'stop' };
   *   },
   * };
   * await using orchestrator = createOrchestrator({ model });
   * const output = z.object({ title: z.string() });
   * const { value, attempts } = await orchestrator.generate({ prompt: 'A title.', consumer: 'llm', output });
   * console.log(value?.title, attempts);
   * // prints: Forty-two 2
   * ```
   */
  generate<T = unknown>(options: GenerateOptions<T>): Promise<Generation<T>>;
  /**
   * Starts a job and streams its events.
   *
   * @example
   * ```ts
   * import { createOrchestrator } from 'skillcell';
   *
   * await using orchestrator = createOrchestrator();
   * const job = orchestrator.stream({ kind: 'exec', code: 'console.log(6 * 7)' });
   * for await (const event of job) if (event.type === 'output') console.log(event.stream, event.text.trim());
   * // prints: stdout 42
   * console.log((await job.result).outcome);
   * // prints: succeeded
   * ```
   */
  stream(
    job:
      | ({ kind: 'exec' } & ExecOptions)
      | ({ kind: 'codegen' } & CodegenOptions)
      | ({ kind: 'script' } & ScriptOptions),
    options?: JobStreamOptions,
  ): JobStream;
  /**
   * Opens a sandbox that stays open: definitions of one run are visible to the next run.
   *
   * @throws SkillcellError `session.too-many`, `session.unknown`, or as `exec`
   * @example
   * ```ts
   * import { createOrchestrator } from 'skillcell';
   *
   * await using orchestrator = createOrchestrator();
   * await using session = await orchestrator.session({ language: 'javascript' });
   * await session.run('const months = [316.4, 413.6];');
   * const { value, state } = await session.run('months.at(-1) - months[0] > 97');
   * console.log(value, state);
   * // prints: true kept
   * ```
   */
  session(options?: SessionOptions): Promise<Session>;
  /**
   * Ends a waiting or running job: its result has the outcome `canceled` and the reason as its error's message. A later
   * reason goes into its diagnostics.
   *
   * @returns whether there was such a job
   * @example
   * ```ts
   * import { createOrchestrator } from 'skillcell';
   *
   * await using orchestrator = createOrchestrator();
   * const job = orchestrator.stream({ kind: 'exec', code: 'setInterval(() => {}, 1000)' });
   * for await (const event of job) if (event.type === 'run') orchestrator.cancel(job.jobId, 'no longer needed');
   * const { outcome, error } = await job.result;
   * console.log(outcome, error?.message);
   * // prints: canceled no longer needed
   * console.log(orchestrator.cancel(job.jobId));
   * // prints: false
   * ```
   */
  cancel(jobId: string, reason?: string): boolean;
  /**
   * Reads an artifact of a job without `output`: its bytes, or with `'utf8'` its text.
   *
   * @throws SkillcellError `file.unreadable`, `artifact.evicted` if newer jobs needed the memory, or `options.invalid` for
   * another encoding
   * @example
   * ```ts
   * import { createOrchestrator } from 'skillcell';
   *
   * await using orchestrator = createOrchestrator();
   * const code = `import { writeFileSync } from 'node:fs';
   * writeFileSync(process.env.SKILLCELL_OUTPUT + '/report.md', '# Done');`;
   * const result = await orchestrator.exec({ code, expect: ['report.md'] });
   * console.log(await orchestrator.readArtifact(result, 'report.md', 'utf8'));
   * // prints: # Done
   * ```
   */
  readArtifact(result: Pick<JobResult, 'jobId'>, path: string): Promise<Buffer>;
  readArtifact(result: Pick<JobResult, 'jobId'>, path: string, encoding: 'utf8'): Promise<string>;
  /**
   * Reads an artifact as a stream.
   *
   * @throws SkillcellError as `readArtifact`
   * @example
   * ```ts
   * import { createWriteStream, readFileSync } from 'node:fs';
   * import { pipeline } from 'node:stream/promises';
   * import { createOrchestrator } from 'skillcell';
   *
   * await using orchestrator = createOrchestrator();
   * const code = `import { writeFileSync } from 'node:fs';
   * writeFileSync(process.env.SKILLCELL_OUTPUT + '/report.md', '# Done');`;
   * const { jobId } = await orchestrator.exec({ code, expect: ['report.md'] });
   * await pipeline(orchestrator.artifact(jobId, 'report.md'), createWriteStream('copy.md'));
   * console.log(readFileSync('copy.md', 'utf8'));
   * // prints: # Done
   * ```
   */
  artifact(jobId: string, path: string): Readable;
  /**
   * Resolves when the warm sandboxes are ready; immediately without a pool.
   *
   * @example
   * ```ts
   * import { createOrchestrator } from 'skillcell';
   *
   * await using orchestrator = createOrchestrator({ pool: { size: 1 } });
   * await orchestrator.warm();
   * const { usage } = await orchestrator.exec({ code: 'console.log(6 * 7)' });
   * console.log(usage.warm);
   * // prints: true
   * ```
   */
  warm(): Promise<void>;
  /**
   * Metrics of the pool, by language; empty without a pool.
   *
   * @example
   * ```ts
   * import { createOrchestrator } from 'skillcell';
   *
   * await using orchestrator = createOrchestrator({ pool: { size: 1 } });
   * await orchestrator.warm();
   * await orchestrator.exec({ code: 'console.log(6 * 7)' });
   * const { javascript } = await orchestrator.poolMetrics();
   * console.log(javascript?.hits, javascript?.misses);
   * // prints: 1 0
   * ```
   */
  poolMetrics(): Promise<Record<string, PoolMetrics>>;
  /**
   * Reports the isolation levels of each runner and whether they are available on this machine.
   *
   * @example
   * ```ts
   * import { createOrchestrator } from 'skillcell';
   *
   * await using orchestrator = createOrchestrator();
   * for (const { runner, isolation, available } of await orchestrator.probe()) console.log(runner, isolation, typeof available);
   * // prints: …
   * ```
   */
  probe(): Promise<RunnerReport[]>;
  /**
   * Removes the leftovers of dead hosts now.
   *
   * @example
   * ```ts
   * import { createOrchestrator } from 'skillcell';
   *
   * await using orchestrator = createOrchestrator();
   * const { removed } = await orchestrator.sweep();
   * console.log(Array.isArray(removed));
   * // prints: true
   * ```
   */
  sweep(): Promise<SweepSummary>;
  /**
   * Cancels all waiting and running jobs, and ends the pool. Idempotent.
   *
   * @example
   * ```ts
   * import { createOrchestrator, SkillcellError } from 'skillcell';
   *
   * const orchestrator = createOrchestrator();
   * await orchestrator.close();
   * await orchestrator.exec({ code: 'console.log(6 * 7)' }).catch((error) => {
   *   console.log(SkillcellError.isInstance(error) && error.code);
   * });
   * // prints: orchestrator.closed
   * ```
   */
  close(): Promise<void>;
}
