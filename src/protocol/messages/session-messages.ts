import type { Diagnostic } from '../../contracts/errors/diagnostic.ts';
import type { Language } from '../../contracts/jobs/language.ts';
import type { LimitName, Outcome, ProgramError } from '../../contracts/jobs/result.ts';

/** What can be done to the workspace of a session. */
export type FileOperation = 'read' | 'write' | 'list' | 'delete' | 'export';

/** Entries of a workspace that are told at once. */
export const MOST_ROWS = 20_000;
/** Bytes that the rows of a workspace take, beside the content of its files. */
export const ROWS_BYTES: number = 16 * 1024 * 1024;

/** The row behind all others where there are more entries than are told at once. */
export const CUT_ROW: WorkspaceRow & { fault: string } = {
  path: '…',
  kind: 'other',
  bytes: 0,
  fault: 'not all entries were looked at',
};

/** Why an archive does not hold a folder: it holds files, and the folders on the way to them. */
export const EMPTY_FOLDER = 'an empty folder';

/** An entry of a workspace, as a line of JSON; in an export the bytes of a file that has no `fault` follow. */
export interface WorkspaceRow {
  path: string;
  kind: 'file' | 'folder' | 'other';
  bytes: number;
  executable?: boolean;
  /** Why it is left out, or what is in it. */
  fault?: string;
}

/** Why a run is interrupted: its caller's wish, or calls that it may not make. */
export type InterruptReason = 'canceled' | 'calls';

/** What the host sends to a session once it has started. A message goes before the first byte of each stream that it names. */
export type SessionRequest =
  | {
      type: 'cell';
      run: number;
      language: Language;
      code: string;
      /** For this run only. */
      env?: Record<string, string>;
      timeoutMs: number;
    }
  | { type: 'interrupt'; run: number; reason: InterruptReason }
  /** `maxBytes` of what comes back; `stream` brings what is written. */
  | { type: 'files'; id: number; op: FileOperation; path: string; maxBytes: number; stream?: number }
  | { type: 'end' };

/** One form of a result: its bytes stand behind those of the forms before it. */
export interface ResultForm {
  mediaType: string;
  bytes: number;
}

/** What came of one run, as the sandbox tells it. */
export interface CellResult {
  run: number;
  epoch: number;
  state: 'kept' | 'lost';
  outcome: Outcome;
  limit?: LimitName;
  exitCode: number | null;
  signal: string | null;
  value?: unknown;
  error?: ProgramError;
  stdoutBytes: number;
  stderrBytes: number;
  diagnostics: Diagnostic[];
  /** Milliseconds that the code ran. */
  runMs: number;
}

/** What a session sends besides what every job does. */
export type SessionReply =
  | ({ type: 'cell' } & CellResult)
  /** A run under way shows something: its forms, and the stream that brings their bytes. */
  | { type: 'shown'; run: number; forms: ResultForm[]; stream: number }
  /** What was asked for comes on a stream. */
  | { type: 'files'; id: number; stream: number }
  /** It is done, or cannot be. */
  | { type: 'filed'; id: number; error?: string };
