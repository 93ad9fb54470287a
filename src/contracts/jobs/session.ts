import type { JobEvent } from './events.ts';
import type { JobOptions } from './job.ts';
import type { Language } from './language.ts';
import type {
  CallRow,
  Isolation,
  JobResult,
  LimitName,
  OmittedFile,
  Outcome,
  OutputText,
  ProgramError,
  RunnerName,
} from './result.ts';
import type { ResultNetwork } from '../network/result-network.ts';
import type { Diagnostic } from '../errors/diagnostic.ts';
import type { SessionResult } from './session-result.ts';

export type { SessionResult } from './session-result.ts';

/** Most waiting runs of one session; further runs fail with `session.busy`. */
export const SESSION_WAITING_RUNS = 16;
/** Default maximum of open sessions per orchestrator. */
export const DEFAULT_MAX_SESSIONS = 16;
/** Default idle timeout of a session, in milliseconds. */
export const SESSION_IDLE_MS = 600_000;
/** Default lifetime of a session, in milliseconds. */
export const SESSION_MS = 14_400_000;
/** Maximum lifetime and idle timeout of a session, in milliseconds. */
export const MAX_SESSION_MS = 86_400_000;
/** Most bytes of the code of one run. */
export const RUN_CODE_BYTES: number = 1024 * 1024;
/** Most bytes of all results of one run together. */
export const RESULT_BYTES: number = 16 * 1024 * 1024;
/** Most results of one run. */
export const MOST_RESULTS = 64;
/** Most forms of one result. */
export const MOST_FORMS = 16;
export const MEDIA_TYPE_CHARACTERS = 100;
const MEDIA_TYPE = /^[a-z0-9][a-z0-9.+-]*\/[a-z0-9][a-z0-9.+-]*$/i;
/** Most bytes of a file that is read or written through a session. */
export const SESSION_FILE_BYTES: number = 32 * 1024 * 1024;

/** Options of a session: a sandbox that stays open and keeps its definitions from run to run. */
export interface SessionOptions extends Pick<
  JobOptions,
  | 'runner'
  | 'isolation'
  | 'files'
  | 'env'
  | 'limits'
  | 'skills'
  | 'tools'
  | 'network'
  | 'packages'
  | 'secrets'
  | 'context'
  | 'signal'
> {
  /** Id of the session and of its job. Default: generated. */
  sessionId?: string;
  /** Default language of the runs. Default: `javascript`. */
  language?: Language;
  /** Idle timeout. Default: 600,000 ms. */
  idleTimeoutMs?: number;
  /** Lifetime. Default: 14,400,000 ms. */
  sessionTimeoutMs?: number;
  /** Id of a session that ended because it was idle; `stateDir` keeps its workspace. */
  resume?: string;
}

/** Options of one run in a session. */
export interface SessionRunOptions {
  /** Each language has an interpreter and definitions of its own, in the same workspace. Default: the language of the session. */
  language?: Language;
  /** Further environment variables for this run only; each has its old value again after the run. */
  env?: Record<string, string>;
  /** Deadline of the run, in milliseconds. Default: `runTimeoutMs` of the session's limits. */
  timeoutMs?: number;
  /** Interrupts the run, or removes a waiting run from the queue. Both are `canceled`. */
  signal?: AbortSignal;
}

/** Result of one run. A failing program is a result, not an exception. */
export interface SessionRun {
  /** Number of the run in its session, from 1, in the order of the requests. */
  run: number;
  /** Counts from 1. When one interpreter is lost, all interpreters of the session end, and the next run begins the next epoch. */
  epoch: number;
  /** Whether the definitions are kept for the next run. */
  state: 'kept' | 'lost';
  outcome: Outcome;
  limit?: LimitName;
  /** Exit code of the interpreter if it ended; in bash that of the last command, in Python that of `sys.exit`. */
  exitCode: number | null;
  signal: string | null;
  /** Value of the last expression, or the argument of `setValue`; absent if it has no JSON form. */
  value?: unknown;
  /** Displayed results in order, then the last expression if it displays itself, then the open figures. Each had an event. */
  results: SessionResult[];
  stdout: OutputText;
  stderr: OutputText;
  /** `line` counts in the code of the run. */
  error?: ProgramError;
  /** The first thousand, in order of start. */
  calls: CallRow[];
  /** Use of the network by the requests that ended during the run; absent for a session without a network. */
  network?: ResultNetwork;
  diagnostics: Diagnostic[];
  /** From the start of the code to its end, in milliseconds. */
  wallMs: number;
}

/** A run under way. Iteration gives its events from the first on: `run`, `output`, `result`, `call`, `approval`. */
export interface SessionStream extends AsyncIterable<JobEvent> {
  readonly result: Promise<SessionRun>;
}

/** A file or folder in the workspace of a session. */
export interface SessionFile {
  /** Path below the workspace. */
  path: string;
  kind: 'file' | 'folder' | 'other';
  /** Size of a file; 0 for any other kind. */
  bytes: number;
  /** Why it has no usable path, or its content is not listed: `unreadable (EACCES)`, `deeper than 64 folders`, `its name is not UTF-8`. */
  fault?: string;
}

/** Export of a session's workspace. */
export interface SessionExport {
  archive: Buffer;
  /** Entries that the archive lacks, with the reason: no regular file, an empty folder, unreadable, a name that it cannot hold, no room. */
  omitted: OmittedFile[];
}

/** Files in the workspace of a session, with the permissions of its own code. Paths are relative to the workspace; links are not followed. */
export interface SessionFiles {
  /**
   * Reads a file: its bytes, or with `'utf8'` its text.
   *
   * @throws SkillcellError `file.unreadable`, `job.invalid` for a path that leaves the workspace, `session.ended`
   * @example
   * ```ts
   * import { createOrchestrator } from 'skillcell';
   *
   * await using orchestrator = createOrchestrator();
   * await using session = await orchestrator.session();
   * await session.run("require('node:fs').writeFileSync('note.txt', 'made inside')");
   * console.log(await session.files.read('note.txt', 'utf8'));
   * // prints: made inside
   * ```
   */
  read(path: string): Promise<Buffer>;
  read(path: string, encoding: 'utf8'): Promise<string>;
  /**
   * Writes a whole file and creates its parent folders.
   *
   * @throws SkillcellError as `read`
   * @example
   * ```ts
   * import { createOrchestrator } from 'skillcell';
   *
   * await using orchestrator = createOrchestrator();
   * await using session = await orchestrator.session();
   * await session.files.write('data/months.csv', 'month\n1960-01\n');
   * const { value } = await session.run("require('node:fs').readFileSync('data/months.csv', 'utf8').length");
   * console.log(value);
   * // prints: 14
   * ```
   */
  write(path: string, content: string | Uint8Array): Promise<void>;
  /**
   * Lists all entries below a folder in path order; default: the whole workspace. A list that exceeds 20,000 entries or 8 MiB ends with an
   * entry `…`, whose `fault` says so.
   *
   * @throws SkillcellError as `read`
   * @example
   * ```ts
   * import { createOrchestrator } from 'skillcell';
   *
   * await using orchestrator = createOrchestrator();
   * await using session = await orchestrator.session({ files: { 'data/a.txt': 'given' } });
   * for (const { path, kind, bytes } of await session.files.list('data')) console.log(path, kind, bytes);
   * // prints: data/a.txt file 5
   * ```
   */
  list(path?: string): Promise<SessionFile[]>;
  /**
   * Removes a file, or a folder with all its content.
   *
   * @throws SkillcellError as `read`
   * @example
   * ```ts
   * import { createOrchestrator } from 'skillcell';
   *
   * await using orchestrator = createOrchestrator();
   * await using session = await orchestrator.session({ files: { 'data/a.txt': 'given' } });
   * await session.files.delete('data');
   * console.log((await session.run("require('node:fs').existsSync('data')")).value);
   * // prints: false
   * ```
   */
  delete(path: string): Promise<void>;
}

/** An open session. */
export interface Session extends AsyncDisposable {
  readonly id: string;
  readonly runner: RunnerName;
  readonly isolation: Isolation;
  /** Settles with the result of its job when the session ends, for any reason. */
  readonly ended: Promise<JobResult>;
  /**
   * Runs code with the definitions of earlier runs. One run is active at a time; up to 16 wait.
   *
   * @throws SkillcellError `session.busy`, `session.ended`, `job.invalid`, or the code of an internal failure
   * @example
   * ```ts
   * import { createOrchestrator } from 'skillcell';
   *
   * await using orchestrator = createOrchestrator();
   * await using session = await orchestrator.session();
   * await session.run('const step = 2;');
   * const { value, state } = await session.run('step * 21');
   * console.log(value, state);
   * // prints: 42 kept
   * ```
   */
  run(code: string, options?: SessionRunOptions): Promise<SessionRun>;
  /**
   * Like `run`, with events.
   *
   * @example
   * ```ts
   * import { createOrchestrator } from 'skillcell';
   *
   * await using orchestrator = createOrchestrator();
   * await using session = await orchestrator.session();
   * const stream = session.stream('console.log("said")');
   * for await (const event of stream) if (event.type === 'output') console.log(event.stream, event.text.trim());
   * // prints: stdout said
   * console.log((await stream.result).outcome);
   * // prints: succeeded
   * ```
   */
  stream(code: string, options?: SessionRunOptions): SessionStream;
  /**
   * Interrupts the active run like Ctrl-C. Returns false if no run is active.
   *
   * @example
   * ```ts
   * import { createOrchestrator } from 'skillcell';
   *
   * await using orchestrator = createOrchestrator();
   * await using session = await orchestrator.session();
   * await session.run('const kept = 1;');
   * const stream = session.stream('console.log("on"); for (;;) {}');
   * for await (const event of stream) if (event.type === 'output') session.interrupt();
   * const { outcome, state } = await stream.result;
   * console.log(outcome, state, (await session.run('kept')).value);
   * // prints: canceled kept 1
   * ```
   */
  interrupt(): boolean;
  readonly files: SessionFiles;
  /**
   * Exports the workspace as a TAR archive of regular files.
   *
   * @throws SkillcellError as `files.read`
   * @example
   * ```ts
   * import { createOrchestrator } from 'skillcell';
   *
   * await using orchestrator = createOrchestrator();
   * await using session = await orchestrator.session({ files: { 'a.txt': 'given' } });
   * const { archive, omitted } = await session.export();
   * console.log(archive.length % 512, omitted.length);
   * // prints: 0 0
   * ```
   */
  export(): Promise<SessionExport>;
  /**
   * Ends the session; the files in its output folder become artifacts of its job. Idempotent.
   *
   * @example
   * ```ts
   * import { createOrchestrator } from 'skillcell';
   *
   * await using orchestrator = createOrchestrator();
   * await using session = await orchestrator.session();
   * await session.run("require('node:fs').writeFileSync(process.env.SKILLCELL_OUTPUT + '/report.md', '# Done')");
   * const job = await session.close();
   * console.log(job.outcome, await orchestrator.readArtifact(job, 'report.md', 'utf8'));
   * // prints: succeeded # Done
   * ```
   */
  close(): Promise<JobResult>;
}

/** Checks for the media type of a form, such as `image/png`. */
export function isMediaType(text: string): boolean {
  return MEDIA_TYPE.test(text) && text.length <= MEDIA_TYPE_CHARACTERS;
}
