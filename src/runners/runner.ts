import type { Duplex } from 'node:stream';
import type { Diagnostic } from '../contracts/diagnostic.ts';
import type { Language } from '../contracts/job.ts';
import type { JobLimits } from '../contracts/limits.ts';
import type { Isolation, RunnerName } from '../contracts/result.ts';
import type { SandboxUsage } from '../contracts/usage.ts';

/** Version of this contract. */
export const RUNNER_CONTRACT = 1;

/** The limits that hold from a sandbox's start on; all others belong to the job. */
export type SandboxLimits = Pick<JobLimits, 'memoryMib' | 'cpus' | 'pids' | 'workspaceMib' | 'workspaceInodes'>;

/** What to start. */
export interface SandboxSpec {
  /** The level to start at, exactly. */
  isolation: Isolation;
  /** The language whose executor is made ready. */
  language: Language;
  limits: SandboxLimits;
}

/** How a limit is held at a level. */
export type LimitEnforcement = 'kernel' | 'watched' | 'none';

/** What a runner can do on this machine at one level. */
export interface RunnerReport {
  runner: RunnerName;
  isolation: Isolation;
  available: boolean;
  /** Why it is not available, or what is weaker than it could be. */
  reasons: string[];
  limits: Record<'memory' | 'cpus' | 'pids' | 'workspace' | 'inodes', LimitEnforcement>;
}

/** How a sandbox ended. `lost` is an infrastructure error. */
export interface SandboxExit {
  cause: 'exit' | 'killed' | 'lost';
  oom: boolean | null;
  code: number | null;
}

/** One started isolation unit. Serves one job. */
export interface Sandbox {
  readonly isolation: Isolation;
  readonly runner: RunnerName;
  readonly channel: Duplex;
  /** Limits that are not held by the kernel, as diagnostics for the result. */
  readonly diagnostics: readonly Diagnostic[];
  usage(): SandboxUsage;
  /** Bytes that its processes and files in memory hold now, without the page cache. Null where nothing counts them. */
  memoryBytes(): Promise<number | null>;
  /** The last lines that the sandbox's own programs wrote, for error messages. Host paths may stand in them. */
  complaint(): string;
  /** Ends the sandbox and everything in it, and removes what it left. Idempotent. */
  kill(reason: string): Promise<void>;
  readonly exited: Promise<SandboxExit>;
}

/** What a sweep removed. */
export interface SweepReport {
  removed: { kind: 'folder' | 'cgroup' | 'process' | 'container'; name: string }[];
  failed: { kind: string; name: string; reason: string }[];
}

/** A backend that starts sandboxes. Making one does no I/O. */
export interface Runner extends AsyncDisposable {
  readonly name: RunnerName;
  readonly contract: typeof RUNNER_CONTRACT;
  /** The levels that it starts, the one that a job gets by default first. */
  readonly levels: readonly Isolation[];
  /** Finds out, by really starting one at each level, what this runner isolates here. Strongest level first. */
  probe(options?: { signal?: AbortSignal }): Promise<RunnerReport[]>;
  /** Throws `runner.isolation-unmet`, `runtime.missing` or `sandbox.start-failed`; never starts anything weaker. */
  start(spec: SandboxSpec, options: { signal: AbortSignal }): Promise<Sandbox>;
  /** Removes what dead owners left. An abort ends it early, with what was removed until then. */
  sweep(options?: { signal?: AbortSignal }): Promise<SweepReport>;
  close(): Promise<void>;
}
