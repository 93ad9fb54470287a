const MIB = 1024 * 1024;

/**
 * Limits of a job. Every limit is a whole number of at least 1, with two exceptions: `cpus` may be a fraction, and `pids` is
 * at least 40.
 */
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
  /** Kept bytes of stdout, and of stderr. */
  keptOutputBytes: number;
  /** Bytes of both streams together; the job ends when it exceeds them. */
  totalOutputBytes: number;
  artifactFiles: number;
  artifactFileBytes: number;
  artifactTotalBytes: number;
  artifactDepth: number;
  /** Calls to the broker. */
  calls: number;
  /** Total time that the clocks of run and job may pause during approvals of calls, in milliseconds. */
  approvalTimeoutMs: number;
  /** Bytes of the JSON of a job's value. */
  valueBytes: number;
  /** Connections of a job with a network at once; further ones wait. */
  networkConnections: number;
  /** Requests to the network. */
  networkRequests: number;
  /** Bytes of the bodies of all answers from the network. */
  networkBytesIn: number;
  /** Bytes of the bodies of all requests to the network. */
  networkBytesOut: number;
}

/** The limits that apply from the start of a sandbox on; all others belong to the job. */
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
  approvalTimeoutMs: 300_000,
  valueBytes: 256 * 1024,
  networkConnections: 32,
  networkRequests: 1_000,
  networkBytesIn: 256 * MIB,
  networkBytesOut: 16 * MIB,
};

/** Default deadline of a codegen job, in milliseconds. */
export const CODEGEN_JOB_TIMEOUT_MS = 900_000;

/** Defaults and maxima for a script of a skill. */
export const SCRIPT_LIMITS: Pick<JobLimits, 'runTimeoutMs' | 'keptOutputBytes' | 'totalOutputBytes'> = {
  runTimeoutMs: 60_000,
  keptOutputBytes: MIB,
  totalOutputBytes: MIB,
};

/** Most arguments of a script of a skill, and their total bytes. */
export const SCRIPT_ARGUMENTS = { count: 100, bytes: 4_096 } as const;

/** A smaller limit has no room for one Node process and its threads (threats M42). */
export const MINIMUM_PIDS = 40;

/** The largest allowed value of each limit. */
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
  approvalTimeoutMs: 86_400_000,
  valueBytes: 4 * MIB,
  networkConnections: 32,
  networkRequests: 1_000_000,
  networkBytesIn: 1024 * 1024 * MIB,
  networkBytesOut: 1024 * 1024 * MIB,
};
