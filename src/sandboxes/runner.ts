import type { Duplex } from 'node:stream';
import type { Diagnostic } from '../contracts/errors/diagnostic.ts';
import type { Language } from '../contracts/jobs/language.ts';
import type { SandboxLimits } from '../contracts/jobs/limits.ts';
import type { Isolation, RunnerName } from '../contracts/jobs/result.ts';
import type { SkillcellError } from '../contracts/errors/skillcell-error.ts';
import type { SandboxUsage } from '../contracts/jobs/usage.ts';

/** Version of this contract. */
export const RUNNER_CONTRACT = 1;

export type { SandboxLimits };

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
  /**
   * The kernel's counters of it. Absent where the supervisor inside has to read them.
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
   * Bytes that its processes and files in memory hold now, without the page cache. Null where nothing counts them.
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
   * The last lines that the sandbox's own programs wrote, for error messages. Host paths may stand in them.
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
   * What an end before it was ready shows about this machine, such as a level that cannot be had; absent where nothing.
   *
   * @example
   * ```ts
   * import { createLocalRunner, DEFAULT_LIMITS } from 'skillcell';
   *
   * await using runner = createLocalRunner();
   * const spec = { isolation: 'none', language: 'javascript', limits: DEFAULT_LIMITS } as const;
   * const sandbox = await runner.start(spec, { signal: AbortSignal.timeout(60_000) });
   * await sandbox.kill('the example is over');
   * // It was ended by us, which says nothing of the machine.
   * console.log(sandbox.startFailure?.());
   * // prints: undefined
   * ```
   */
  startFailure?(): SkillcellError | undefined;
  /**
   * Ends the sandbox and everything in it, and removes what it left. Idempotent.
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
   * Lets this process end although the sandbox waits; `kill` holds it until the end. Absent where a sandbox holds none.
   *
   * @example
   * ```ts
   * import { createLocalRunner, DEFAULT_LIMITS } from 'skillcell';
   *
   * await using runner = createLocalRunner();
   * const spec = { isolation: 'none', language: 'javascript', limits: DEFAULT_LIMITS } as const;
   * const sandbox = await runner.start(spec, { signal: AbortSignal.timeout(60_000) });
   * // Were nothing else to come, this process would end now, and the sandbox with it.
   * sandbox.unref?.();
   * await sandbox.kill('the example is over');
   * console.log((await sandbox.exited).cause);
   * // prints: killed
   * ```
   */
  unref?(): void;
  /**
   * Takes `unref` back: a job runs.
   *
   * @example
   * ```ts
   * import { createLocalRunner, DEFAULT_LIMITS } from 'skillcell';
   *
   * await using runner = createLocalRunner();
   * const spec = { isolation: 'none', language: 'javascript', limits: DEFAULT_LIMITS } as const;
   * const sandbox = await runner.start(spec, { signal: AbortSignal.timeout(60_000) });
   * sandbox.unref?.();
   * // From here on this process stays as long as the sandbox does.
   * sandbox.ref?.();
   * await sandbox.kill('the example is over');
   * console.log((await sandbox.exited).cause);
   * // prints: killed
   * ```
   */
  ref?(): void;
}

/** What a sweep removed. */
export interface SweepReport {
  removed: { kind: string; name: string }[];
  failed: { kind: string; name: string; reason: string }[];
  /** Why there was nothing to look through, where that is so. */
  skipped?: string;
}

/** A backend that starts sandboxes. Making one does no I/O. */
export interface Runner extends AsyncDisposable {
  readonly name: RunnerName;
  readonly contract: typeof RUNNER_CONTRACT;
  /** The levels that it starts, the one that a job gets by default first. */
  readonly levels: readonly Isolation[];
  /** What brings a level that it may have, where the level is missing: one line of advice. */
  readonly advice?: Partial<Readonly<Record<Isolation, string>>>;
  /**
   * Asks whether what it starts sandboxes with is there, and starts nothing; for who has another runner to turn to. Absent
   * where `start` itself tells at once.
   *
   * @param options `patienceMs` without an answer count as a refusal
   * @throws what `start` would throw
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
   * Finds out, by really starting one at each level, what this runner isolates here. Strongest level first.
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
   * Throws `runner.isolation-unmet`, `runtime.missing` or `sandbox.start-failed`; never starts anything weaker.
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
   * Removes what dead owners left. An abort ends it early, with what was removed until then.
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
   * Ends every sandbox that runs, and starts no other one. Idempotent.
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
