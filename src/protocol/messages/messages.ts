import type { SkillsDescriptor } from '../../contracts/skills/descriptor.ts';
import type { Diagnostic } from '../../contracts/errors/diagnostic.ts';
import type {
  CodegenAttempt,
  LimitName,
  OmittedFile,
  Outcome,
  ProgramError,
  ResultSkills,
} from '../../contracts/jobs/result.ts';
import type { SourceRow } from '../../contracts/skills/skill.ts';
import type { SandboxUsage } from '../../contracts/jobs/usage.ts';
import type { CallTarget } from '../channel/packed-call.ts';
import type { SessionReply, SessionRequest } from './session-messages.ts';
import type { BytesPlace } from './value-bytes.ts';

/** Version of the messages; both ends must have the same. */
export const PROTOCOL_VERSION = 3;

/** Most attempts that one job makes. */
export const MAX_ATTEMPTS = 64;

/** Bytes that stand in a value whose JSON has `null` in their place: where, how many, and the stream that brings them. */
export interface StreamedBytes extends BytesPlace {
  stream: number;
}

/** What the host sends besides answers to calls. A message goes before the first byte of each stream that it names. */
export type HostMessage =
  | { type: 'start'; globals: number; skills?: number; files?: number; stdin?: number }
  /** The clock of the run stands still while someone is asked, and goes on. */
  | { type: 'clock'; running: boolean }
  | { type: 'cancel'; reason: CancelReason }
  | SessionRequest
  /** Before `start`: do once what a job will do, so that it is loaded. */
  | ({ type: 'rehearse' } & Rehearsal);

/** What the host gives a model that asks for more: lines, texts that are data, and skills, whose files come as the bytes of the answer. */
export interface RequestAnswer {
  notes: string[];
  texts: { label: string; text: string }[];
  /** `pool` is the sources pool so far: calls of programs may have added to it. */
  skills?: { descriptor: SkillsDescriptor; refs: string[]; pool: readonly SourceRow[] };
}

/** A call as the host takes it. Its JSON is hostile, and may be none. */
export interface SandboxCall {
  /** Whole number from 1. */
  id: number;
  target: CallTarget;
  name: string;
  json: Uint8Array;
  places: StreamedBytes[];
}

/** Why a call gave no value. */
export interface CallError {
  /** Of `TOOL_CALL_CODES` for a tool. */
  code: string;
  message: string;
}

/** What a warm sandbox does ahead besides a run. */
export interface Rehearsal {
  /** Rebuilding and rendering skills. */
  codegen: boolean;
  /** Loading the code of a skill. */
  skillCode: boolean;
}

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
  sources: SourceRow[];
  diagnostics: Diagnostic[];
  /** Milliseconds that user code ran, all runs together. */
  runMs: number;
  attempts?: CodegenAttempt[];
  /** The counters of the sandbox's own control group, where the host cannot read them. */
  usage?: SandboxUsage;
}

/** What the entry sends besides calls. A message goes before the first byte of each stream that it names. */
export type SandboxMessage =
  | { type: 'ready'; protocol: number }
  | { type: 'rehearsed' }
  | { type: 'skills'; skills: ResultSkills }
  /** A run of user code begins; in a session, where it first writes something: a run that writes nothing has no streams. */
  | { type: 'run'; run: number; stdout: number; stderr: number }
  | { type: 'attempt'; attempt: number; maxAttempts: number; phase: 'asking' }
  | { type: 'attempt'; attempt: number; maxAttempts: number; phase: 'running'; code: string }
  /** The files of the output folder come, as one tar stream. */
  | { type: 'artifacts'; stream: number }
  | { type: 'fault'; code: string; message: string; diagnostics: Diagnostic[] }
  | { type: 'result'; result: SandboxResult }
  | SessionReply;
