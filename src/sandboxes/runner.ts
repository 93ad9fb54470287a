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
}

/** One started sandbox. It serves one job. */
export interface Sandbox {
  readonly isolation: Isolation;
  readonly runner: RunnerName;
  readonly channel: Duplex;
  /** Limits that the kernel does not enforce, as diagnostics for the result. */
  readonly diagnostics: readonly Diagnostic[];
  /**
   * The kernel's counters of the sandbox. Absent if the supervisor inside must read them.
   *
   * @example
   * ```ts
   * import { createLocalRunner, DEFAULT_LIMITS } from 'skillcell';
   *
   * await using runner = createLocalRunner();
   * const spec = { isolation: 'none', language: 'javascript', limits: DEFAULT_LIMITS } as const;
   * const sandbox = await runner.start(spec, { signal: AbortSignal.timeout(60_000) });
   * await sandbox.kill('the example is over');
   * await sandbox.exited;
   * const { cpuMs } = sandbox.usage?.() ?? { cpuMs: null };
   * console.log(cpuMs === null || cpuMs >= 0);
   * // prints: true
   * ```
   */
  usage?(): SandboxUsage;
  /**
   * Current bytes of its processes and files in memory, without the inactive page cache. Null if they are not counted.
   *
   * @example
   * ```ts
   * import { createLocalRunner, DEFAULT_LIMITS } from 'skillcell';
   *
   * await using runner = createLocalRunner();
   * const spec = { isolation: 'none', language: 'javascript', limits: DEFAULT_LIMITS } as const;
   * const sandbox = await runner.start(spec, { signal: AbortSignal.timeout(60_000) });
   * const bytes = await sandbox.memoryBytes();
   * console.log(bytes === null || bytes >= 0);
   * // prints: true
   * await sandbox.kill('the example is over');
   * ```
   */
  memoryBytes(): Promise<number | null>;
  /**
   * The last lines of stderr of the sandbox's own programs, for error messages. They may contain host paths.
   *
   * @example
   * ```ts
   * import { createLocalRunner, DEFAULT_LIMITS } from 'skillcell';
   *
   * await using runner = createLocalRunner();
   * const spec = { isolation: 'none', language: 'javascript', limits: DEFAULT_LIMITS } as const;
   * const sandbox = await runner.start(spec, { signal: AbortSignal.timeout(60_000) });
   * await sandbox.kill('the example is over');
   * console.log(JSON.stringify(sandbox.complaint()));
   * // prints: ""
   * ```
   */
  complaint(): string;
  /**
   * The reason of a failed start if this machine is the cause, such as an unavailable level; else undefined.
   *
   * @example
   * ```ts
   * import { createLocalRunner, DEFAULT_LIMITS } from 'skillcell';
   *
   * await using runner = createLocalRunner();
   * const spec = { isolation: 'none', language: 'javascript', limits: DEFAULT_LIMITS } as const;
   * const sandbox = await runner.start(spec, { signal: AbortSignal.timeout(60_000) });
   * await sandbox.kill('the example is over');
   * // This program ended it, so the machine is not the cause.
   * console.log(sandbox.startFailure?.());
   * // prints: undefined
   * ```
   */
  startFailure?(): SkillcellError | undefined;
  /**
   * Ends the sandbox and all its processes, and removes its files. Idempotent.
   *
   * @example
   * ```ts
   * import { createLocalRunner, DEFAULT_LIMITS } from 'skillcell';
   *
   * await using runner = createLocalRunner();
   * const spec = { isolation: 'none', language: 'javascript', limits: DEFAULT_LIMITS } as const;
   * const sandbox = await runner.start(spec, { signal: AbortSignal.timeout(60_000) });
   * await sandbox.kill('the example is over');
   * const { cause } = await sandbox.exited;
   * console.log(cause);
   * // prints: killed
   * ```
   */
  kill(reason: string): Promise<void>;
  readonly exited: Promise<SandboxExit>;
  /**
   * Lets this process exit while the sandbox waits; `kill` keeps it alive until the end. Absent if a sandbox never keeps the process alive.
   *
   * @example
   * ```ts
   * import { createLocalRunner, DEFAULT_LIMITS } from 'skillcell';
   *
   * await using runner = createLocalRunner();
   * const spec = { isolation: 'none', language: 'javascript', limits: DEFAULT_LIMITS } as const;
   * const sandbox = await runner.start(spec, { signal: AbortSignal.timeout(60_000) });
   * // Without further work, this process would exit now and end the sandbox.
   * sandbox.unref?.();
   * await sandbox.kill('the example is over');
   * console.log((await sandbox.exited).cause);
   * // prints: killed
   * ```
   */
  unref?(): void;
  /**
   * Reverts `unref` when a job runs.
   *
   * @example
   * ```ts
   * import { createLocalRunner, DEFAULT_LIMITS } from 'skillcell';
   *
   * await using runner = createLocalRunner();
   * const spec = { isolation: 'none', language: 'javascript', limits: DEFAULT_LIMITS } as const;
   * const sandbox = await runner.start(spec, { signal: AbortSignal.timeout(60_000) });
   * sandbox.unref?.();
   * // From now on, the sandbox keeps this process alive.
   * sandbox.ref?.();
   * await sandbox.kill('the example is over');
   * console.log((await sandbox.exited).cause);
   * // prints: killed
   * ```
   */
  ref?(): void;
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
  /** One line of advice for each level that may be unavailable. */
  readonly advice?: Partial<Readonly<Record<Isolation, string>>>;
  /**
   * Checks that the backend answers, without starting a sandbox, so that the caller can choose another runner. Absent if `start`
   * itself fails at once.
   *
   * @param options `patienceMs` is the deadline of the answer
   * @throws the same errors as `start`
   * @example
   * ```ts
   * import { createDockerRunner } from 'skillcell';
   *
   * await using runner = createDockerRunner();
   * const patience = { signal: AbortSignal.timeout(10_000), patienceMs: 2_000 };
   * const answer = await runner.reach?.(patience).then(() => 'the engine is there', (error: Error) => error.message);
   * console.log(answer);
   * // prints: …
   * ```
   */
  reach?(options: { signal: AbortSignal; patienceMs: number }): Promise<void>;
  /**
   * Checks each level by starting a sandbox. The strongest level comes first.
   *
   * @example
   * ```ts
   * import { createLocalRunner } from 'skillcell';
   *
   * await using runner = createLocalRunner();
   * for (const { isolation, available } of await runner.probe()) console.log(isolation, typeof available);
   * // prints: namespace boolean
   * // prints: none boolean
   * ```
   */
  probe(options?: { signal?: AbortSignal }): Promise<RunnerReport[]>;
  /**
   * Starts a sandbox; never at a weaker level.
   *
   * @throws SkillcellError `runner.isolation-unmet`, `runtime.missing`, `sandbox.start-failed`
   *
   * @example
   * ```ts
   * import { createLocalRunner, DEFAULT_LIMITS } from 'skillcell';
   *
   * await using runner = createLocalRunner();
   * const spec = { isolation: 'none', language: 'javascript', limits: DEFAULT_LIMITS } as const;
   * const sandbox = await runner.start(spec, { signal: AbortSignal.timeout(60_000) });
   * console.log(sandbox.runner, sandbox.isolation);
   * // prints: local none
   * await sandbox.kill('the example is over');
   * ```
   */
  start(spec: SandboxSpec, options: { signal: AbortSignal }): Promise<Sandbox>;
  /**
   * Removes the sandboxes of dead owners. An abort ends the sweep early; the report then covers the work until then.
   *
   * @example
   * ```ts
   * import { createLocalRunner } from 'skillcell';
   *
   * await using runner = createLocalRunner();
   * const { removed, failed } = await runner.sweep({ signal: AbortSignal.timeout(60_000) });
   * console.log(Array.isArray(removed), failed);
   * // prints: true []
   * ```
   */
  sweep(options?: { signal?: AbortSignal }): Promise<SweepReport>;
  /**
   * Ends all running sandboxes and refuses further starts. Idempotent.
   *
   * @example
   * ```ts
   * import { createLocalRunner, DEFAULT_LIMITS } from 'skillcell';
   *
   * await using runner = createLocalRunner();
   * const spec = { isolation: 'none', language: 'javascript', limits: DEFAULT_LIMITS } as const;
   * const sandbox = await runner.start(spec, { signal: AbortSignal.timeout(60_000) });
   * await runner.close();
   * console.log((await sandbox.exited).cause);
   * // prints: killed
   * ```
   */
  close(): Promise<void>;
}
