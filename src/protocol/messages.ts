import type { Diagnostic } from '../contracts/diagnostic.ts';
import type {
  CodegenAttempt,
  LimitName,
  OmittedFile,
  Outcome,
  ProgramError,
  ResultSkills,
} from '../contracts/result.ts';
import type { SourceRow } from '../contracts/skill.ts';
import type { SandboxUsage } from '../contracts/usage.ts';

/** Version of the messages; both ends must have the same. */
export const PROTOCOL_VERSION = 1;

/** Numbers of the streams from host to sandbox. */
export const HOST_STREAM = { globals: 1, skills: 2, files: 3, stdin: 4 } as const;
/** Number of the stream of artifacts, from sandbox to host. */
export const ARTIFACT_STREAM = 1;
/** Most runs of user code in one job. */
export const MAX_RUNS = 64;

/** Numbers of the output streams of one run, counted from 1. */
export function outputStreams(run: number): { stdout: number; stderr: number } {
  return { stdout: run * 2, stderr: run * 2 + 1 };
}

/** What the host sends. `start` names the streams that follow; globals always do. */
export type HostMessage =
  | { type: 'start'; skills: boolean; files: boolean; stdin: boolean }
  | { type: 'reply'; id: number; ok: true; value: unknown }
  | { type: 'reply'; id: number; ok: false; error: { name: string; message: string } }
  | { type: 'cancel'; reason: CancelReason }
  /** Before `start`: do once what a job will do, so that it is loaded. */
  | { type: 'rehearse'; codegen: boolean };

/** Why the host ends a job early: its caller's wish, or the clock of the whole job. */
export type CancelReason = 'canceled' | 'timeout' | 'calls';

/** What the entry found when its job was over. The host adds what only it knows. */
export interface SandboxResult {
  outcome: Outcome;
  limit?: LimitName;
  exitCode: number | null;
  signal: string | null;
  /** Bytes that the last run wrote, kept or not. */
  stdoutBytes: number;
  stderrBytes: number;
  value?: unknown;
  error?: ProgramError;
  omitted: OmittedFile[];
  missing: string[];
  sources: SourceRow[];
  diagnostics: Diagnostic[];
  /** Milliseconds that user code ran, all runs together. */
  runMs: number;
  attempts?: CodegenAttempt[];
  /** The counters of the sandbox's own control group, where the host cannot read them. */
  usage?: SandboxUsage;
}

/** What the entry sends. */
export type SandboxMessage =
  | { type: 'ready'; protocol: number }
  | { type: 'rehearsed' }
  | { type: 'skills'; skills: ResultSkills }
  | { type: 'run'; run: number }
  | { type: 'attempt'; attempt: number; maxAttempts: number; phase: 'asking' | 'running' }
  | { type: 'call'; id: number; target: 'tool' | 'model'; name: string; args?: unknown }
  | { type: 'fault'; code: string; message: string; diagnostics: Diagnostic[] }
  | { type: 'result'; result: SandboxResult };
