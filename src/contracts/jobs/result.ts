import type { JobDecision } from './decision.ts';
import type { Diagnostic } from '../errors/diagnostic.ts';
import type { InstalledPackage } from '../network/job-packages.ts';
import type { ResultNetwork } from '../network/result-network.ts';
import type { JobMatch } from '../skills/matching.ts';
import type { SourceRow } from '../skills/skill.ts';

export type JobKind = 'exec' | 'codegen' | 'script' | 'session';
/** Name of a runner: `local`, `docker`, or the name of a runner that was given to the orchestrator. */
export type RunnerName = 'local' | 'docker' | (string & Record<never, never>);
/** Isolation levels, weakest first. */
export type Isolation = 'none' | 'namespace' | 'container' | 'kernel';
/** The levels in rising order. */
export const ISOLATION_LEVELS: readonly Isolation[] = ['none', 'namespace', 'container', 'kernel'];

export type Outcome = 'succeeded' | 'failed' | 'timeout' | 'out_of_memory' | 'limit' | 'canceled';
export type LimitName =
  | 'output'
  | 'workspace'
  | 'inodes'
  | 'pids'
  | 'artifacts'
  | 'calls'
  | 'network'
  | 'tokens'
  | 'model-calls';

/** Kept text of one output stream. `bytes` counts all written bytes, kept or not. */
export interface OutputText {
  text: string;
  bytes: number;
  truncated: boolean;
}

/** An error of the user program. `line` counts from 1 in the user's own file. */
export interface ProgramError {
  name: string;
  message: string;
  stack: string;
  line?: number;
}

/** A file in the output folder that the host collected. */
export interface Artifact {
  /** Path below the output folder. */
  path: string;
  bytes: number;
  /** 64 hex digits. */
  sha256: string;
  mediaType: string;
  description?: string;
  visibility: 'external' | 'internal';
}

/** A file or folder that was left out, and the reason. */
export interface OmittedFile {
  path: string;
  reason: string;
}

/** One call of sandboxed code to the broker. */
export interface CallRow {
  id: number;
  target: 'tool' | 'model' | 'host';
  name: string;
  ok: boolean;
  durationMs: number;
  /** Code of the failure, from docs/errors.md. */
  code?: string;
  error?: string;
  /** The answer is the recorded result of an equal call of an earlier attempt. */
  replayed?: true;
}

/** All calls of one tool. */
export interface CallTotal {
  calls: number;
  failed: number;
  replayed: number;
}

/** One attempt of a codegen job. */
export interface CodegenAttempt {
  model: string;
  /** 64 hex digits over the canonical JSON of the messages. */
  promptSha256: string;
  code: string;
  /** Further files of the program. */
  files?: { path: string; code: string }[];
  outcome: Outcome;
  usage: { inputTokens: number | null; outputTokens: number | null };
}

/** The skills that arrived in the sandbox, as reported by the entry script. */
export interface ResultSkills {
  /** Full ids in load order, then the ids that the job loaded with `skills.load`. */
  active: string[];
  /** Digest of the descriptor that arrived; null when the job had no skills. */
  digest: string | null;
  /** 64 hex digits of the `[ACTIVE SKILLS]` block; null if nothing is rendered (exec jobs). */
  instructionSha256: string | null;
}

/** Result of a job. A failing user program is a result, not an exception. */
export interface JobResult {
  jobId: string;
  kind: JobKind;
  /** Null for a job that never had a sandbox. */
  runner: RunnerName | null;
  /** Null for a job that never had a sandbox. */
  isolation: Isolation | null;
  /** The worker of a fleet that ran the sandbox; absent for a sandbox of this machine. */
  worker?: string;
  /** From 1. A job whose sandbox was lost may have more than one attempt. */
  attempt: number;
  outcome: Outcome;
  limit?: LimitName;
  exitCode: number | null;
  signal: string | null;
  stdout: OutputText;
  stderr: OutputText;
  value?: unknown;
  error?: ProgramError;
  artifacts: Artifact[];
  omitted: OmittedFile[];
  contract?: { satisfied: boolean; missing: string[] };
  /** The first thousand, in order of start. */
  calls: CallRow[];
  /** All calls by tool. `(model)`: calls of the model; `(host)`: calls of the agent to the host; `(not allowed)`: tools that the job lacks. */
  callTotals: Record<string, CallTotal>;
  /** Use of the network; absent for a job without one. */
  network?: ResultNetwork;
  /** Packages that were installed before the program, with their dependencies; absent if the job asked for none, or they could not be. */
  packages?: InstalledPackage[];
  skills: ResultSkills;
  /** Skills whose triggers matched the task; only for jobs with `skills.match`. */
  match?: JobMatch;
  /** The turn's sources pool after rendering. */
  sources: SourceRow[];
  usage: {
    wallMs: number | null;
    cpuMs: number | null;
    maxRssBytes: number | null;
    startMs: number | null;
    warm: boolean;
  };
  diagnostics: Diagnostic[];
  codegen?: { attempts: CodegenAttempt[] };
  /** Decision of a job with `select`. */
  decision?: JobDecision;
}
