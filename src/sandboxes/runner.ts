import type { Duplex } from 'node:stream';
import type { Diagnostic } from '../contracts/errors/diagnostic.ts';
import type { Language } from '../contracts/jobs/language.ts';
import type { SandboxLimits } from '../contracts/jobs/limits.ts';
import type { Isolation, RunnerName } from '../contracts/jobs/result.ts';
import type { SkillcellError } from '../contracts/errors/skillcell-error.ts';
import type { SandboxUsage } from '../contracts/jobs/usage.ts';

/** Version of the runner contract. */
export const RUNNER_CONTRACT = 1;

export type { SandboxLimits };

/** The sandbox to start. */
export interface SandboxSpec {
  /** The exact isolation level. */
  isolation: Isolation;
  /** The language whose executor is prepared. */
  language: Language;
  limits: SandboxLimits;
}

/** Enforcement of a limit. `watched`: checked several times a second. */
export type LimitEnforcement = 'kernel' | 'watched' | 'none';

/** Abilities of a runner on this machine at one level. */
export interface RunnerReport {
  runner: RunnerName;
  isolation: Isolation;
  available: boolean;
  /** Why the level is unavailable, or weaker than possible. */
  reasons: string[];
  limits: Record<'memory' | 'cpus' | 'pids' | 'workspace' | 'inodes', LimitEnforcement>;
}

/** End of a sandbox. `lost` is an infrastructure error. */
export interface SandboxExit {
  cause: 'exit' | 'killed' | 'lost';
  oom: boolean | null;
  code: number | null;
  /** Its host has announced the loss, so it is no fault of the job. */
  isAnnounced?: boolean;
}

/** One started sandbox. It serves one job. */
export interface Sandbox {
  readonly isolation: Isolation;
  readonly runner: RunnerName;
  readonly channel: Duplex;
  /** Limits that the kernel does not enforce, as diagnostics for the result. */
  readonly diagnostics: readonly Diagnostic[];
  /** The worker of a fleet that runs it. Absent on this machine. */
  readonly worker?: string;
  /** Whether its runner had started it ahead of this job. */
  readonly warm?: boolean;
  /** The kernel's counters of the sandbox. Absent, or without a value, if the supervisor inside must read them. */
  usage?(): SandboxUsage | Promise<SandboxUsage | undefined>;
  /** Current bytes of its processes and files in memory, without the inactive page cache. Null if they are not counted. */
  memoryBytes(): Promise<number | null>;
  /** The last lines of stderr of the sandbox's own programs, for error messages. They may contain host paths. */
  complaint(): string;
  /** The reason of a failed start if its machine is the cause, such as an unavailable level or a lost worker; else undefined. */
  startFailure?(): SkillcellError | undefined;
  /** Ends the sandbox and all its processes, and removes its files. Idempotent. */
  kill(reason: string): Promise<void>;
  readonly exited: Promise<SandboxExit>;
  /**
   * Lets this process exit while the sandbox waits; `kill` keeps it alive until the end. Absent if a sandbox never keeps the process alive.
   */
  unref?(): void;
  /** Reverts `unref` for a sandbox that a job takes. */
  ref?(): void;
}

/** Options of the start of a sandbox. */
export interface StartOptions {
  signal: AbortSignal;
  /** Called with the reason if the start waits for a place for long. */
  onWaiting?: ((reason: string) => void) | undefined;
}

/** Result of a sweep. */
export interface SweepReport {
  removed: { kind: string; name: string }[];
  failed: { kind: string; name: string; reason: string }[];
  /** Why the sweep was skipped, if it was. */
  skipped?: string;
}

/** A backend that starts sandboxes. Its creation does no I/O. */
export interface Runner extends AsyncDisposable {
  readonly name: RunnerName;
  readonly contract: typeof RUNNER_CONTRACT;
  /** The levels that it starts, the default level first. */
  readonly levels: readonly Isolation[];
  /** Its sandboxes run on other hosts, which keep warm ones of their own: a pool leaves them alone. */
  readonly isRemote?: boolean;
  /** One line of advice for each level that may be unavailable. */
  readonly advice?: Partial<Readonly<Record<Isolation, string>>>;
  /**
   * Checks that the backend answers, without starting a sandbox, so that the caller can choose another runner. Absent if `start`
   * itself fails at once.
   *
   * @param options `patienceMs` is the deadline of the answer
   * @throws the same errors as `start`
   */
  reach?(options: { signal: AbortSignal; patienceMs: number }): Promise<void>;
  /** Checks each level by starting a sandbox. The strongest level comes first. */
  probe(options?: { signal?: AbortSignal }): Promise<RunnerReport[]>;
  /** Waits until a start that was refused may succeed. Absent if a refusal is final. */
  changed?(signal: AbortSignal): Promise<void>;
  /**
   * Starts a sandbox; never at a weaker level.
   *
   * @throws SkillcellError `runner.isolation-unmet`, `runtime.missing`, `sandbox.start-failed`
   */
  start(spec: SandboxSpec, options: StartOptions): Promise<Sandbox>;
  /** Removes the sandboxes of dead owners. An abort ends the sweep early; the report then covers the work until then. */
  sweep(options?: { signal?: AbortSignal }): Promise<SweepReport>;
  /** Ends all running sandboxes and refuses further starts. Idempotent. */
  close(): Promise<void>;
}
