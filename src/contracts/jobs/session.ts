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
import type { Diagnostic } from '../errors/diagnostic.ts';
import type { SessionResult } from './session-result.ts';

export type { SessionResult } from './session-result.ts';

/** Runs of one session that wait for their turn; more are refused with `session.busy`. */
export const SESSION_WAITING_RUNS = 16;
/** Sessions that one orchestrator has open at once where nothing else is said. */
export const DEFAULT_MAX_SESSIONS = 16;
/** How long a session may do nothing, in milliseconds, where nothing else is said. */
export const SESSION_IDLE_MS = 600_000;
/** How long a session may last, in milliseconds, where nothing else is said. */
export const SESSION_MS = 14_400_000;
/** The longest that a session may last or do nothing, in milliseconds. */
export const MAX_SESSION_MS = 86_400_000;
/** Bytes of the code of one run. */
export const RUN_CODE_BYTES: number = 1024 * 1024;
/** Bytes of the results of one run, all together. */
export const RESULT_BYTES: number = 16 * 1024 * 1024;
/** Results of one run. */
export const MOST_RESULTS = 64;
/** Forms of one result. */
export const MOST_FORMS = 16;
export const MEDIA_TYPE_CHARACTERS = 100;
const MEDIA_TYPE = /^[a-z0-9][a-z0-9.+-]*\/[a-z0-9][a-z0-9.+-]*$/i;
/** Bytes of a file that is read or written through a session. */
export const SESSION_FILE_BYTES: number = 32 * 1024 * 1024;

/** A sandbox that stays open: what is defined in it stays from run to run. */
export interface SessionOptions extends Pick<
  JobOptions,
  'runner' | 'isolation' | 'files' | 'env' | 'limits' | 'skills' | 'tools' | 'context' | 'signal'
> {
  /** Its id, which is the id of its job. Default: made by us. */
  sessionId?: string;
  /** Language of the runs that name none. Default: `javascript`. */
  language?: Language;
  /** How long it may do nothing. Default: 600,000 ms. */
  idleTimeoutMs?: number;
  /** How long it may last. Default: 14,400,000 ms. */
  sessionTimeoutMs?: number;
  /** The id of a session that ended because it did nothing, and whose workspace `stateDir` keeps. */
  resume?: string;
}

/** Options of one run in a session. */
export interface SessionRunOptions {
  /** Each language has an interpreter of its own, with names of its own, in the same workspace. Default: the session's. */
  language?: Language;
  /** Environment variables for this run only, beside those of the session: when it is over each is as it was before. */
  env?: Record<string, string>;
  /** How long the code may run. Default: `runTimeoutMs` of the session's limits. */
  timeoutMs?: number;
  /** Interrupts the run; one that has not begun then never does. Both are `canceled`. */
  signal?: AbortSignal;
}

/** What came of one run. A failing program is a result, not an exception. */
export interface SessionRun {
  /** Number of the run in its session, from 1, in the order in which they were asked for. */
  run: number;
  /** Counts from 1. When an interpreter is lost all of the session end, and the next run begins the next epoch. */
  epoch: number;
  /** Whether what runs defined is still there for the next one. */
  state: 'kept' | 'lost';
  outcome: Outcome;
  limit?: LimitName;
  /** Of the interpreter, where it ended; of bash that of its last command, of Python that of `sys.exit`. */
  exitCode: number | null;
  signal: string | null;
  /** The last expression, or what `setValue` was given; absent where that has no JSON form. */
  value?: unknown;
  /** What was displayed, in order; then the last expression where it is shown by itself, and the open figures. Each has had an event. */
  results: SessionResult[];
  stdout: OutputText;
  stderr: OutputText;
  /** With the line of the run's own code. */
  error?: ProgramError;
  /** The first thousand, in order of start. */
  calls: CallRow[];
  diagnostics: Diagnostic[];
  /** From the start of the code to its end, in milliseconds. */
  wallMs: number;
}

/** A run under way. Iterating gives its events from the first on: `run`, `output`, `result`, `call`, `approval`. */
export interface SessionStream extends AsyncIterable<JobEvent> {
  readonly result: Promise<SessionRun>;
}

/** A file or folder in the workspace of a session. */
export interface SessionFile {
  /** Below the workspace. */
  path: string;
  kind: 'file' | 'folder' | 'other';
  /** 0 for what is no file. */
  bytes: number;
  /** Why it cannot be reached by its path, or what is in it is not listed: `unreadable (EACCES)`, `deeper than 64 folders`, `its name is not UTF-8`. */
  fault?: string;
}

/** What a session's workspace holds. */
export interface SessionExport {
  archive: Buffer;
  /** What the archive lacks, and why: no regular file, an empty folder, unreadable, a name that no archive of ours holds, no room. */
  omitted: OmittedFile[];
}

/** The workspace of a session, reached with the rights of its own code: paths are relative to it, and no link is followed. */
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
   * Writes a whole file, with the folders on the way to it.
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
   * All below a folder, in path order; default: all of the workspace. Where there are more than 20,000 entries, or 8 MiB of them, the last one is `…`, whose `fault` says so.
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
   * Removes a file, or a folder with all in it.
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
  /** Settles when it has ended, whoever ended it: as the result of its job. */
  readonly ended: Promise<JobResult>;
  /**
   * Runs code with what earlier runs defined. One runs at a time, up to 16 wait.
   *
   * @throws SkillcellError `session.busy`, `session.ended`, `job.invalid`, or when we failed
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
   * The same with events.
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
   * Interrupts the run that is under way, as Ctrl-C does. Says whether there was one.
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
   * The workspace as a TAR archive of regular files.
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
   * Ends it; what lies in its output folder becomes artifacts of its job. Idempotent.
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

/** Whether a text is the media type of a form, such as `image/png`. */
export function isMediaType(text: string): boolean {
  return MEDIA_TYPE.test(text) && text.length <= MEDIA_TYPE_CHARACTERS;
}
