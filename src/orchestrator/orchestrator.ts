import type { Readable } from 'node:stream';
import type { Logger } from 'pino';
import type { ModelGateway } from '../broker/model-gateway.ts';
import type { ToolHandler } from '../broker/tool-handler.ts';
import type { JobEvent } from '../contracts/events.ts';
import type { CodegenOptions, ExecOptions, Language } from '../contracts/job.ts';
import type { JobLimits } from '../contracts/limits.ts';
import type { Isolation, JobResult } from '../contracts/result.ts';
import type { WarmPoolCounts } from '../runners/warm-pool.ts';
import type { Runner, RunnerReport } from '../runners/runner.ts';
import type { SweepSummary } from './sweep-runners.ts';
import type { SkillsSubsystem } from '../skills/skills-subsystem.ts';

/** Warm sandboxes that are started ahead. */
export interface PoolOptions {
  /** Sandboxes a language; 0 turns the pool off. @default 0 */
  size: number;
  /** @default ['javascript'] */
  languages?: Language[];
  /** @default the best level of the runner */
  isolation?: Isolation;
  /** Whether codegen jobs come too, so that rendering is loaded ahead as well. @default false */
  codegen?: boolean;
  /** Limits of the warm sandboxes; a job with others starts cold. @default DEFAULT_LIMITS */
  limits?: Partial<JobLimits>;
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
  /** The skills that jobs may ask for. Without it jobs have none. */
  skills?: SkillsSubsystem;
  /** Where codegen jobs ask for code. Its key stays in this process. */
  model?: ModelGateway;
  /** What sandboxed code may call, by name. */
  tools?: ReadonlyMap<string, ToolHandler>;
  /**
   * In order of preference: a job that names neither runner nor level gets the first one that works.
   * @default local, then docker for the jobs that ask for it or for its levels
   */
  runners?: Runner[];
  /** Take a weaker level than `namespace` where nothing better is there, for jobs that don't demand one. @default false */
  allowUnisolated?: boolean;
  /** Jobs that run at once. @default the number of processors, at least 2 */
  concurrency?: number;
  /** Jobs that may wait. @default 10,000 */
  queue?: number;
  pool?: PoolOptions;
  /** The most that a job may ask of each limit. */
  ceilings?: Partial<JobLimits>;
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
  /** Runs code. @throws SkillcellError when the job cannot be accepted, or we failed. */
  exec(options: ExecOptions): Promise<JobResult>;
  /** Has code written and runs it. @throws SkillcellError as `exec`, and with a `model.` code. */
  codegen(options: CodegenOptions): Promise<JobResult>;
  /** The same, with events. */
  stream(job: ({ kind: 'exec' } & ExecOptions) | ({ kind: 'codegen' } & CodegenOptions)): JobStream;
  /** Ends a job that waits or runs. Says whether there was one. */
  cancel(jobId: string): boolean;
  /** The bytes of an artifact of a job that kept them in memory. @throws SkillcellError `file.unreadable` */
  artifact(jobId: string, path: string): Readable;
  /** Resolves when the warm sandboxes are ready; at once without a pool. */
  warm(): Promise<void>;
  /** How the pool does, by language; empty without one. */
  poolMetrics(): Promise<Partial<Record<Language, PoolMetrics>>>;
  probe(): Promise<RunnerReport[]>;
  /** Removes what dead hosts left, at once. */
  sweep(): Promise<SweepSummary>;
  /** Cancels what waits and runs, and ends the pool. Idempotent. */
  close(): Promise<void>;
}
