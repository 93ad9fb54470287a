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
import type { Isolation, JobResult } from '../contracts/jobs/result.ts';
import type { Session, SessionOptions } from '../contracts/jobs/session.ts';
import type { WarmPoolCounts } from '../sandboxes/pool/warm-pool.ts';
import type { Runner, RunnerReport, SandboxLimits } from '../sandboxes/runner.ts';
import type { SweepSummary } from './sweep-runners.ts';
import type { SkillLibrary } from '../library/snapshot/skill-library.ts';
import type { SkillsSubsystem } from '../skills/load-subsystem.ts';

/** Warm sandboxes that are started ahead. */
export interface PoolOptions {
  /** Sandboxes a language; 0 turns the pool off. @default 0 */
  size: number;
  /** @default ['javascript'] */
  languages?: Language[];
  /** @default what a job gets that names neither runner nor level */
  isolation?: Isolation;
  /** Whether codegen jobs come too, so that rendering is loaded ahead as well. @default false */
  codegen?: boolean;
  /** Limits of the warm sandboxes; a job with others starts cold. All limits but these are each job's own. @default DEFAULT_LIMITS */
  limits?: Partial<SandboxLimits>;
  /** How often a waiting sandbox is asked whether it still answers; one that does not is replaced. @default 60,000 ms */
  checkIntervalMs?: number;
  /** After this long without a job all but one sandbox a language end; the next job brings them back. @default 300,000 ms */
  idleMs?: number;
}

/** What the warm sandboxes of one language have been good for, and what they cost. */
export interface PoolMetrics extends WarmPoolCounts {
  /** Memory that one waiting sandbox holds, by its control group; null where none waits or nothing counts it. */
  idleBytes: number | null;
}

/** Options of `createOrchestrator`. */
export interface OrchestratorOptions {
  /**
   * The skills that jobs may ask for. Without it jobs have none. Of a library, a job keeps to its end what it was when the job was submitted; it
   * is watched until the orchestrator is closed, and closed by whoever opened it.
   */
  skills?: SkillsSubsystem | SkillLibrary;
  /**
   * Where codegen jobs ask for code: a gateway, or a model of the AI SDK such as `anthropic('claude-sonnet-4-5')`. Its key stays
   * in this process.
   */
  model?: ModelGateway | SdkModel;
  /** What jobs may ask for by id: our tools, or a record of the AI SDK's. A job gets those that its `tools` name. */
  tools?: readonly Tool[] | SdkTools;
  /** Asked for each call of a tool with `approval: 'always'`. Without it, and without an answer, such a call is denied. */
  approve?: Approve;
  /**
   * In order of preference: a job that names no runner gets the first one that works and isolates enough. Level `none` is
   * tried last, whatever the order.
   * @default docker where an engine and its image are, else local
   */
  runners?: Runner[];
  /** Take a weaker level than `namespace` where nothing better is there, for jobs that don't demand one. @default false */
  allowUnisolated?: boolean;
  /** Jobs that run at once. @default the number of processors, at least 2 */
  concurrency?: number;
  /** Jobs that may wait. @default 10,000 */
  queue?: number;
  /** Sessions that are open at once. @default 16 */
  maxSessions?: number;
  pool?: PoolOptions;
  /**
   * What becomes of the code that skills bring as tools: `sandbox` runs it in sandboxes of its own, one for each skill and job;
   * `host` loads it into this process, from trusted roots only; `off` leaves it alone. See docs/skill-code.md. @default 'sandbox'
   */
  skillCode?: 'sandbox' | 'host' | 'off';
  /** Folders of skills whose code may be loaded into this process where `skillCode` is `host`, besides the built-in ones. */
  trustedSkillRoots?: string[];
  /** The most that a job may ask of each limit; defaults above it are lowered to it. */
  ceilings?: Partial<JobLimits>;
  /**
   * Bytes of artifacts that stay in memory for `artifact` and `readArtifact`, of jobs that named no `output`; the oldest jobs' go
   * first. @default 256 MiB
   */
  keptArtifactBytes?: number;
  /**
   * A folder that outlives this process. With it a job is on the disk before it is `accepted`, has one file with its result in
   * `results/<jobId>.<attempt>.json`, and jobs of a host that died are recorded as failed with `job.host-lost` by the next one.
   * Without it nothing is promised across a crash but the clean-up.
   */
  stateDir?: string;
  /**
   * Milliseconds between two sweeps, which remove what dead hosts left; the first is soon after the start. 0 for none but
   * those by `sweep()`. @default 60,000 ms
   */
  sweepIntervalMs?: number;
  /** Default: silent. */
  logger?: Logger;
}

/** A job under way. Iterating gives its events from the first on; a slow reader slows the job. */
export interface JobStream extends AsyncIterable<JobEvent> {
  readonly jobId: string;
  readonly result: Promise<JobResult>;
}

/** Accepts jobs, runs them in sandboxes, and gives each exactly one result. */
export interface Orchestrator extends AsyncDisposable {
  /** The skills that jobs may ask for; undefined where there are none. */
  readonly skills: SkillsSubsystem | SkillLibrary | undefined;
  /** What jobs may name as their tools, as far as it does not depend on the job. */
  readonly tools: readonly Tool[];
  /**
   * Runs code.
   *
   * @throws SkillcellError when the job cannot be accepted, or we failed.
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
   * Has code written and runs it.
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
   * Runs a script that a skill ships, in the folder where the skill lies in the sandbox.
   *
   * @throws SkillcellError as `exec`, `script.not-listed`, `script.interpreter-unknown`, and `script.requirements-missing` where a
   * package that the script requires (PEP 723) is not there; then nothing of it ran.
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
   * Has an answer written, without a sandbox: a text, or with `output` a value that is judged, and asked for again with its faults.
   * The skills are those that `consumer` may have, in the system prompt.
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
   * A job with events.
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
  ): JobStream;
  /**
   * Opens a sandbox that stays open: what a run defines is there for the next one.
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
   * Ends a job that waits or runs: its result has the outcome `canceled` and the reason as its error's message. A later
   * reason stands in its diagnostics. Says whether there was such a job.
   *
   * @example
   * ```ts
   * import { createOrchestrator } from 'skillcell';
   *
   * await using orchestrator = createOrchestrator();
   * const job = orchestrator.stream({ kind: 'exec', code: 'setInterval(() => {}, 1000)' });
   * for await (const event of job) if (event.type === 'run') orchestrator.cancel(job.jobId, 'nobody waits for it');
   * const { outcome, error } = await job.result;
   * console.log(outcome, error?.message);
   * // prints: canceled nobody waits for it
   * console.log(orchestrator.cancel(job.jobId));
   * // prints: false
   * ```
   */
  cancel(jobId: string, reason?: string): boolean;
  /**
   * Reads an artifact of a job that named no `output`: its bytes, or with `'utf8'` its text.
   *
   * @throws SkillcellError `file.unreadable`, `artifact.evicted` when newer jobs needed the room, or `options.invalid` for
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
   * The same as a stream.
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
   * Resolves when the warm sandboxes are ready; at once without a pool.
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
   * How the pool does, by language; empty without one.
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
   * Finds out what each runner isolates here.
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
   * Removes what dead hosts left, at once.
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
   * Cancels what waits and runs, and ends the pool. Idempotent.
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
