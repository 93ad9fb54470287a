import * as z from 'zod/mini';

const MIB = 1024 * 1024;

/** Limits of a job. Every number is a whole one and at least 1, but for `cpus`, which may be a fraction. */
export interface JobLimits {
  /** Deadline of one run of user code, in milliseconds. */
  runTimeoutMs: number;
  /** Deadline of one model request, in milliseconds. */
  modelTimeoutMs: number;
  /** Deadline of the whole job, in milliseconds. */
  jobTimeoutMs: number;
  /** Time between TERM and KILL, in milliseconds. */
  graceMs: number;
  memoryMib: number;
  cpus: number;
  /** Processes and threads of user code. */
  pids: number;
  workspaceMib: number;
  workspaceInodes: number;
  /** Bytes kept of each of stdout and stderr. */
  keptOutputBytes: number;
  /** Bytes of both streams together after which the job ends. */
  totalOutputBytes: number;
  artifactFiles: number;
  artifactFileBytes: number;
  artifactTotalBytes: number;
  artifactDepth: number;
  /** Calls to the broker. */
  calls: number;
  /** Bytes of the JSON of a job's value. */
  valueBytes: number;
}

/** The limits that hold from a sandbox's start on; all others belong to the job. */
export type SandboxLimits = Pick<JobLimits, 'memoryMib' | 'cpus' | 'pids' | 'workspaceMib' | 'workspaceInodes'>;

/** The defaults of every limit; `jobTimeoutMs` is 900 s for codegen jobs. */
export const DEFAULT_LIMITS: JobLimits = {
  runTimeoutMs: 120_000,
  modelTimeoutMs: 120_000,
  jobTimeoutMs: 120_000,
  graceMs: 2_000,
  memoryMib: 512,
  cpus: 1,
  pids: 64,
  workspaceMib: 128,
  workspaceInodes: 8_192,
  keptOutputBytes: MIB,
  totalOutputBytes: 256 * MIB,
  artifactFiles: 64,
  artifactFileBytes: 32 * MIB,
  artifactTotalBytes: 64 * MIB,
  artifactDepth: 16,
  calls: 1_000,
  valueBytes: 256 * 1024,
};

/** Deadline of a codegen job when none is given, in milliseconds. */
export const CODEGEN_JOB_TIMEOUT_MS = 900_000;

/** Fewer processes than this cannot hold one Node process and its threads (threats M42). */
export const MINIMUM_PIDS = 40;

/** The largest value that a configuration may allow for each limit. */
export const LIMIT_CEILINGS: JobLimits = {
  runTimeoutMs: 86_400_000,
  modelTimeoutMs: 3_600_000,
  jobTimeoutMs: 86_400_000,
  graceMs: 60_000,
  memoryMib: 1_048_576,
  cpus: 1_024,
  pids: 32_768,
  workspaceMib: 65_536,
  workspaceInodes: 10_000_000,
  keptOutputBytes: 64 * MIB,
  totalOutputBytes: 1024 * 1024 * MIB,
  artifactFiles: 100_000,
  artifactFileBytes: 4096 * MIB,
  artifactTotalBytes: 16_384 * MIB,
  artifactDepth: 64,
  calls: 1_000_000,
  valueBytes: 4 * MIB,
};

const whole = (maximum: number): z.ZodMiniNumber => z.number().check(z.int(), z.minimum(1), z.maximum(maximum));

const sandboxFields = {
  memoryMib: z.optional(whole(LIMIT_CEILINGS.memoryMib)),
  cpus: z.optional(z.number().check(z.minimum(0.01), z.maximum(LIMIT_CEILINGS.cpus))),
  pids: z.optional(z.number().check(z.int(), z.minimum(MINIMUM_PIDS), z.maximum(LIMIT_CEILINGS.pids))),
  workspaceMib: z.optional(whole(LIMIT_CEILINGS.workspaceMib)),
  workspaceInodes: z.optional(whole(LIMIT_CEILINGS.workspaceInodes)),
};

/** Limits that a caller sets on sandboxes that wait for a job. */
export const sandboxLimitsSchema: z.ZodMiniType<Partial<SandboxLimits>> = z.strictObject(
  sandboxFields,
) as unknown as z.ZodMiniType<Partial<SandboxLimits>>;

/** Limits that a caller sets on one job; what is missing takes its default. */
export const limitsSchema: z.ZodMiniType<Partial<JobLimits>> = z.strictObject({
  runTimeoutMs: z.optional(whole(LIMIT_CEILINGS.runTimeoutMs)),
  modelTimeoutMs: z.optional(whole(LIMIT_CEILINGS.modelTimeoutMs)),
  jobTimeoutMs: z.optional(whole(LIMIT_CEILINGS.jobTimeoutMs)),
  graceMs: z.optional(whole(LIMIT_CEILINGS.graceMs)),
  ...sandboxFields,
  keptOutputBytes: z.optional(whole(LIMIT_CEILINGS.keptOutputBytes)),
  totalOutputBytes: z.optional(whole(LIMIT_CEILINGS.totalOutputBytes)),
  artifactFiles: z.optional(whole(LIMIT_CEILINGS.artifactFiles)),
  artifactFileBytes: z.optional(whole(LIMIT_CEILINGS.artifactFileBytes)),
  artifactTotalBytes: z.optional(whole(LIMIT_CEILINGS.artifactTotalBytes)),
  artifactDepth: z.optional(whole(LIMIT_CEILINGS.artifactDepth)),
  calls: z.optional(whole(LIMIT_CEILINGS.calls)),
  valueBytes: z.optional(whole(LIMIT_CEILINGS.valueBytes)),
}) as unknown as z.ZodMiniType<Partial<JobLimits>>;
