import type { JobDecision } from './decision.ts';
import type { Diagnostic } from '../errors/diagnostic.ts';
import type { JobMatch } from '../skills/matching.ts';
import type { SourceRow } from '../skills/skill.ts';

export type JobKind = 'exec' | 'codegen' | 'script' | 'session';
/** What a runner calls itself: `local`, `docker`, or the name of one that was given to the orchestrator. */
export type RunnerName = 'local' | 'docker' | (string & Record<never, never>);
/** Isolation levels, weakest first. */
export type Isolation = 'none' | 'namespace' | 'container' | 'kernel';
/** The levels in rising order. */
export const ISOLATION_LEVELS: readonly Isolation[] = ['none', 'namespace', 'container', 'kernel'];

export type Outcome = 'succeeded' | 'failed' | 'timeout' | 'out_of_memory' | 'limit' | 'canceled';
export type LimitName = 'output' | 'workspace' | 'inodes' | 'pids' | 'artifacts' | 'calls' | 'tokens' | 'model-calls';

/** What was kept of one output stream. `bytes` counts all that was written, kept or not. */
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

/** A file that the job left under its output folder and the host collected. */
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

/** A file or folder that was left behind, and why. */
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
  /** Why it gave no value: of the codes in docs/errors.md. */
  code?: string;
  error?: string;
  /** Answered from what an equal call of an earlier attempt had come to. */
  replayed?: true;
}

/** All calls of one tool. */
export interface CallTotal {
  calls: number;
  failed: number;
  replayed: number;
}

/** What one attempt of a codegen job did. */
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

/** The skills that arrived in the sandbox, as the entry found them. */
export interface ResultSkills {
  /** Full ids in load order; behind them those that the job has loaded by `skills.load`. */
  active: string[];
  /** Digest of the descriptor that arrived; null when the job had no skills. */
  digest: string | null;
  /** 64 hex digits of the `[ACTIVE SKILLS]` block; null where nothing is rendered (exec jobs). */
  instructionSha256: string | null;
}

/** Result of a job. A failing user program is a result, not an exception. */
export interface JobResult {
  jobId: string;
  kind: JobKind;
  runner: RunnerName;
  isolation: Isolation;
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
  /** All calls, by tool; those of the model are `(model)`, those of the agent to the host `(host)`, and those of tools that the job does not have `(not allowed)`. */
  callTotals: Record<string, CallTotal>;
  skills: ResultSkills;
  /** Which skills the task called for, where the job asked for that. */
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
  /** How a job with `select` was decided on. */
  decision?: JobDecision;
}
