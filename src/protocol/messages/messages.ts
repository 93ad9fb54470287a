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
import type { InstalledPackage } from '../../contracts/network/job-packages.ts';
import type { SourceRow } from '../../contracts/skills/skill.ts';
import type { SandboxUsage } from '../../contracts/jobs/usage.ts';
import type { CallTarget } from '../channel/packed-call.ts';
import type { SessionReply, SessionRequest } from './session-messages.ts';
import type { BytesPlace } from './value-bytes.ts';

/** Version of the messages; both ends must have the same. */
export const PROTOCOL_VERSION = 5;

/** Most attempts of one job. */
export const MAX_ATTEMPTS = 64;

/** Most packages that a sandbox reports as installed, dependencies included. */
export const MOST_INSTALLED = 5_000;

/** Bytes in a value, replaced by `null` in its JSON: their place, their number, and the stream that carries them. */
export interface StreamedBytes extends BytesPlace {
  stream: number;
}

/** Messages of the host, besides answers to calls. A message precedes the first byte of each stream that it names. */
export type HostMessage =
  | { type: 'start'; globals: number; skills?: number; files?: number; stdin?: number }
  /** Pauses the clock of the run during an approval, and resumes it. */
  | { type: 'clock'; running: boolean }
  | { type: 'cancel'; reason: CancelReason }
  /** Accepts a connection: `stream` carries the bytes back. `of` is the stream that the sandbox named. */
  | { type: 'connection'; of: number; stream: number }
  /** A connection is broken, or not accepted. */
  | { type: 'reset'; of: number }
  | SessionRequest
  /** Before `start`: rehearses the work of a job once, so that the code is loaded. */
  | ({ type: 'rehearse' } & Rehearsal);

/** The host's answer to a request of the model: notes, texts as data, and skills, whose files are the bytes of the answer. */
export interface RequestAnswer {
  notes: string[];
  texts: { label: string; text: string }[];
  /** `pool` is the sources pool so far: calls of programs may have added to it. */
  skills?: { descriptor: SkillsDescriptor; refs: string[]; pool: readonly SourceRow[] };
}

/** A call as the host receives it. Its JSON is untrusted and may be invalid. */
export interface SandboxCall {
  /** Whole number from 1. */
  id: number;
  target: CallTarget;
  name: string;
  json: Uint8Array;
  places: StreamedBytes[];
}

/** Reason why a call gave no value. */
export interface CallError {
  /** For a tool, a code of `TOOL_CALL_CODES`. */
  code: string;
  message: string;
}

/** Work that a warm sandbox rehearses besides a run. */
export interface Rehearsal {
  /** Rebuilding and rendering skills. */
  codegen: boolean;
  /** Loading the code of a skill. */
  skillCode: boolean;
  /** Opening a network. */
  network: boolean;
}

/** Reason why the host ends a job early: the caller, the deadline of the job, the limit of calls, or that of the network. */
export type CancelReason = 'canceled' | 'timeout' | 'calls' | 'network';

/** Result of a job from the entry in the sandbox. The host adds the fields that only it knows. */
export interface SandboxResult {
  outcome: Outcome;
  limit?: LimitName;
  exitCode: number | null;
  signal: string | null;
  /** Bytes written by the last run, kept or not. */
  stdoutBytes: number;
  stderrBytes: number;
  value?: unknown;
  error?: ProgramError;
  omitted: OmittedFile[];
  sources: SourceRow[];
  diagnostics: Diagnostic[];
  /** Milliseconds of user code in all runs. */
  runMs: number;
  attempts?: CodegenAttempt[];
  /** Counters of the sandbox's own control group, if the host cannot read them. */
  usage?: SandboxUsage;
}

/** Messages of the entry, besides calls. A message precedes the first byte of each stream that it names. */
export type SandboxMessage =
  | { type: 'ready'; protocol: number }
  | { type: 'rehearsed' }
  | { type: 'skills'; skills: ResultSkills }
  /** The packages of the job are installed. No process of its installers is left; its program begins next. */
  | { type: 'installed'; packages: InstalledPackage[] }
  /** A run of user code begins. In a session it is sent at the first output: a run without output has no streams. */
  | { type: 'run'; run: number; stdout: number; stderr: number }
  | { type: 'attempt'; attempt: number; maxAttempts: number; phase: 'asking' }
  | { type: 'attempt'; attempt: number; maxAttempts: number; phase: 'running'; code: string }
  /** The files of the output folder follow as one tar stream. */
  | { type: 'artifacts'; stream: number }
  | { type: 'fault'; code: string; message: string; diagnostics: Diagnostic[] }
  | { type: 'result'; result: SandboxResult }
  /** A program has connected to the door; `stream` carries its bytes. */
  | { type: 'connection'; stream: number }
  /** A connection is broken. */
  | { type: 'reset'; of: number }
  | SessionReply;
