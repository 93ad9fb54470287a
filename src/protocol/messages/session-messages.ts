import type { Diagnostic } from '../../contracts/errors/diagnostic.ts';
import type { Language } from '../../contracts/jobs/language.ts';
import type { LimitName, Outcome, ProgramError } from '../../contracts/jobs/result.ts';

/**
 * Operations on the files of a session. `list`, `delete` and `export` concern the workspace; `stat`, `entries` and `unlink` reach files as
 * a program does.
 */
export type FileOperation = 'read' | 'write' | 'list' | 'delete' | 'export' | 'stat' | 'entries' | 'unlink';

/** Why an operation failed, if its caller decides by it: the file does not exist, or the processes of the session were ended. */
export type SessionFault = 'missing' | 'lost';

/** An entry of one folder; `stat` gives its kind without `link`, and its bytes. */
export interface ProgramEntry {
  name: string;
  kind: 'file' | 'folder' | 'link' | 'other';
}

/** Most bytes of one output that the process with the rights of user code sends before its supervisor has passed them on. */
export const KEEPER_WINDOW: number = 256 * 1024;

/** Most rows in one listing of a workspace. */
export const MOST_ROWS = 20_000;
/** Most bytes of the rows of a workspace, without the content of its files. */
export const ROWS_BYTES: number = 16 * 1024 * 1024;

/** The last row of a listing that is cut off. */
export const CUT_ROW: WorkspaceRow & { fault: string } = {
  path: '…',
  kind: 'other',
  bytes: 0,
  fault: 'not all entries were looked at',
};

/** Reason why an archive lacks a folder: it holds only files and their parent folders. */
export const EMPTY_FOLDER = 'an empty folder';

/** An entry of a workspace, as a line of JSON. In an export, the bytes of a file without `fault` follow. */
export interface WorkspaceRow {
  path: string;
  kind: 'file' | 'folder' | 'other';
  bytes: number;
  executable?: boolean;
  /** Why the entry, or its content, is left out. */
  fault?: string;
}

/** Reason of an interrupt: the caller, or the limit of calls. */
export type InterruptReason = 'canceled' | 'calls';

/** Messages of the host to a started session. A message precedes the first byte of each stream that it names. */
export type SessionRequest =
  | {
      type: 'cell';
      run: number;
      language: Language;
      code: string;
      /** Only for this run. */
      env?: Record<string, string>;
      timeoutMs: number;
    }
  | { type: 'interrupt'; run: number; reason: InterruptReason }
  /**
   * `maxBytes` limits the answer; `stream` carries the content to write. With `follow` any path is reached, and links are followed, as by a
   * program.
   */
  | { type: 'files'; id: number; op: FileOperation; path: string; follow?: true; maxBytes: number; stream?: number }
  /** Starts a command in bash. `stdin` carries its standard input; the first byte follows the answer. */
  | { type: 'spawn'; id: number; command: string; folder: string; env: Record<string, string>; stdin?: number }
  /** Ends the process group of a command: asks its processes first, or kills them at once. */
  | { type: 'kill'; id: number; isGentle: boolean }
  /** The caller of an operation or a command has left: its content or output is dropped. */
  | { type: 'drop'; id: number }
  | { type: 'end' };

/** One form of a result. Its bytes follow the bytes of the forms before it. */
export interface ResultForm {
  mediaType: string;
  bytes: number;
}

/** Result of one run from the sandbox. */
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
  /** Run time of the code, in milliseconds. */
  runMs: number;
}

/** Messages of a session, besides those of every job. */
export type SessionReply =
  | ({ type: 'cell' } & CellResult)
  /** A result of a run under way: its forms, and the stream that carries their bytes. */
  | { type: 'shown'; run: number; forms: ResultForm[]; stream: number }
  /** The requested content follows on a stream. */
  | { type: 'files'; id: number; stream: number }
  /** The operation is done, or has failed. */
  | { type: 'filed'; id: number; error?: string; fault?: SessionFault }
  /** A command has started. Its outputs follow on two streams. */
  | { type: 'spawned'; id: number; pid: number; stdout: number; stderr: number }
  /** A command has exited, could not be started, or its exit cannot be known. Its outputs may go on after its exit. */
  | { type: 'exited'; id: number; code: number | null; signal: string | null; error?: string; fault?: SessionFault }
  /** Bytes of the outputs of a command that has exited, without later ones: those are of processes that it left behind. */
  | { type: 'printed'; id: number; stdout: number; stderr: number }
  /** The input of a command with `stdin` is over, for any reason; this message comes once. */
  | { type: 'unfed'; id: number; error?: string };
