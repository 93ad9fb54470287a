import { LIMIT_CEILINGS } from '../../contracts/jobs/limits.ts';
import { diagnostic, type Diagnostic } from '../../contracts/errors/diagnostic.ts';
import type { CallRow, CallTotal, JobResult, OmittedFile } from '../../contracts/jobs/result.ts';
import {
  SESSION_IDLE_MS,
  SESSION_WAITING_RUNS,
  type SessionExport,
  type SessionOptions,
  type SessionRun,
  type SessionRunOptions,
  type SessionStream,
} from '../../contracts/jobs/session.ts';
import { SkillcellError } from '../../contracts/errors/skillcell-error.ts';
import type { HostMessage } from '../../protocol/messages/messages.ts';
import { withinDeadline } from '../../protocol/within-deadline.ts';
import { countToolCalls } from '../../tools/calls/count-tool-calls.ts';
import { findLanguage } from '../../languages/languages.ts';
import { createEventStream, type EmitEvent } from '../events/event-stream.ts';
import { invalid } from '../request/job-schema.ts';
import type { JobHost } from '../run/job-host.ts';
import type { ClaimedWorkspace } from './claimed-workspace.ts';
import { type HostRun, startRun } from './host-run.ts';
import { createIdleClock } from './idle-clock.ts';
import type { KeptWorkspaces, UnpublishedWorkspace } from './kept-workspaces.ts';
import { createCommandRequests, isCommandReply } from './command-requests.ts';
import { createFileRequests } from './file-requests.ts';
import { SANDBOX_PORT, type HostedSession } from './sandbox-port.ts';
import { createSessionFiles, isWholeExport } from './session-files.ts';
import type { RunGround, SandboxRuns } from '../run/run-ground.ts';
import { unreportedRun } from '../result/job-result.ts';
import { checkRun } from './session-schema.ts';
import { KEPT_ROWS } from '../../tools/calls/call-rows.ts';

/** The calls of all runs of a session together. */
interface SessionCalls {
  add(rows: readonly CallRow[], totals: Readonly<Record<string, CallTotal>>): void;
  /** The first thousand calls. */
  readonly rows: CallRow[];
  readonly totals: Record<string, CallTotal>;
}

/** Options of {@link createHostSession}. */
export interface HostSessionOptions {
  id: string;
  host: JobHost;
  options: SessionOptions;
  kept: KeptWorkspaces | undefined;
  /** The workspace that it resumes. */
  claim: ClaimedWorkspace | undefined;
}

/** Host-side state of one session. */
export interface HostSession {
  /** Runs of the sandbox of its job. */
  runs: SandboxRuns;
  /** Resolves when the first run can be sent. */
  opened: Promise<void>;
  /** @throws SkillcellError `session.ended` if the session is over already */
  requireOpen(): void;
  /** Completes the result of the job, which is over. */
  finish(result: JobResult): JobResult;
  /** Lets other sessions resume the workspace: the job has its result, or never gets one. */
  publish(): void;
  /** The session as its caller sees it. */
  face(ended: Promise<JobResult>): HostedSession;
}

/** Most omitted files that a diagnostic names. */
const NAMED_OMITTED = 20;
const SILENT: EmitEvent = () => Promise.resolve();

/** Creates the host-side state of one session, before its job is accepted. */
export function createHostSession({ id, host, options, kept, claim }: HostSessionOptions): HostSession {
  const { settings, queue } = host;
  const opened = Promise.withResolvers<void>();
  const calls = sumCalls();
  const admit = countToolCalls();
  const notes: Diagnostic[] = [];
  let ground: RunGround | undefined;
  let over: SkillcellError | undefined;
  let current: HostRun | undefined;
  let waiting = 0;
  let runs = 0;
  let epoch = 1;
  let turn: Promise<unknown> = Promise.resolve();
  const leaving = new AbortController();

  const ended = (reason: string): SkillcellError =>
    new SkillcellError('session.ended', `Cannot go on with the session: ${reason}, got ${id}.`);
  const requireGround = (): RunGround => {
    if (over !== undefined) throw over;
    if (ground === undefined) throw ended('it has not begun');
    if (ground.ending.canceledFor !== undefined) throw ended('it is being ended');
    return ground;
  };
  const idle = createIdleClock(options.idleTimeoutMs ?? SESSION_IDLE_MS, () => void endIdle());
  let requests = 0;
  const nextId = (): number => (requests += 1);
  const fileRequests = createFileRequests(requireGround, nextId);
  const commands = createCommandRequests(requireGround, nextId);
  const files = createSessionFiles(fileRequests, requireGround, idle.during);

  /** Output that its caller does not read must not hold back the end. */
  const leaveReaders = (error: SkillcellError): void => {
    fileRequests.leave(error);
    commands.leave(error);
  };
  const sendEnd = (reason: string): void => {
    if (over !== undefined) return;
    over = ended(reason);
    idle.stop();
    leaving.abort(over);
    current?.interrupt();
    leaveReaders(over);
    ground?.sandbox.channel.send({ type: 'end' } satisfies HostMessage);
    ground?.ending.awaitEnd();
  };
  const endIdle = async (): Promise<void> => {
    const exporting = kept === undefined ? [] : [files.export()];
    // The export itself counts as work. Work that begins after it comes from the caller, who is then no longer idle.
    const isDisturbed = idle.watch();
    const [exported] = await Promise.allSettled(exporting);
    if (over !== undefined || isDisturbed()) return;
    if (exported !== undefined) keepWorkspace(exported);
    notes.push(diagnostic('session.ended', `The session did nothing for ${idle.limitMs / 1000} s.`));
    sendEnd('it was idle for too long');
  };
  const keepWorkspace = (exported: PromiseSettledResult<SessionExport>): void => {
    try {
      if (exported.status === 'rejected') throw exported.reason;
      const { archive, omitted } = exported.value;
      if (!isWholeExport(exported.value)) throw new Error('it has more entries than an export can list.');
      unpublished = kept?.keep(id, archive);
      if (omitted.length > 0) notes.push(diagnostic('file.omitted', leftOut(omitted)));
    } catch (error) {
      needsClaim = true;
      settings.logger?.error({ sessionId: id, err: error }, 'the workspace of a session could not be kept');
      notes.push(diagnostic('session.ended', `Its workspace could not be kept: ${(error as Error).message}`));
    }
  };
  /** Whether the resumed workspace is still the only copy: the session never began, or its workspace could not be kept anew. */
  let needsClaim = true;
  let unpublished: UnpublishedWorkspace | undefined;

  const sandboxRuns: SandboxRuns = {
    begin(given) {
      ground = given;
      const leave = (): void => leaveReaders(ended('it is being ended'));
      given.ending.signal.addEventListener('abort', leave, { once: true });
    },
    message(message) {
      if (message.type === 'skills') {
        opened.resolve();
        needsClaim = false;
        idle.start();
      } else if (message.type === 'run') requireCurrent(current, message.run).begin(message);
      else if (message.type === 'shown') requireCurrent(current, message.run).show(message);
      else if (message.type === 'cell') requireCurrent(current, message.run).settle(message);
      else if (message.type === 'files' || message.type === 'filed') fileRequests.message(message);
      else if (isCommandReply(message)) commands.message(message);
    },
    // A call between two runs belongs to no run, and no program waits for its answer.
    call: (call, signal) => requireCurrent(current, current?.run ?? 0).call(call, signal),
    end(fault) {
      over ??= ended('its sandbox has ended');
      idle.stop();
      leaving.abort(over);
      current?.lose(fault);
      fileRequests.end(fault ?? over);
      commands.end(fault ?? over);
    },
    // Runs close their own brokers, and each run has its own output, budget and model failure.
    close: () => undefined,
    expectsBlock: () => false,
    output: (_stream, bytes) => ({ text: '', bytes, truncated: bytes > 0 }),
    exhausted: undefined,
    modelFailure: undefined,
    get rows() {
      return calls.rows;
    },
    get totals() {
      return calls.totals;
    },
  };

  const runNow = async (
    run: number,
    code: string,
    { language, env, timeoutMs, signal }: SessionRunOptions,
    emit: EmitEvent,
    stop: AbortSignal,
  ): Promise<SessionRun> => {
    const release = await queue.enter(stop);
    try {
      stop.throwIfAborted();
      const at = requireGround();
      const limitMs = timeoutMs ?? at.job.limits.runTimeoutMs;
      const started = startRun(
        at,
        { run, epoch, language: language ?? at.job.language, code, env, timeoutMs: limitMs, emit, admit },
        host.tracing,
      );
      current = started;
      const interrupt = (): void => started.interrupt();
      signal?.addEventListener('abort', interrupt, { once: true });
      try {
        const result = await started.result;
        epoch = result.state === 'lost' ? result.epoch + 1 : result.epoch;
        return result;
      } finally {
        signal?.removeEventListener('abort', interrupt);
        current = undefined;
        if (started.calls !== undefined) calls.add(started.calls.rows, started.calls.totals);
      }
    } finally {
      release();
    }
  };

  const run = async (code: string, runOptions: SessionRunOptions, emit: EmitEvent): Promise<SessionRun> => {
    checkRun(code, runOptions);
    const { job } = requireGround();
    requireRunnable(runOptions.language ?? job.language, code);
    requireTime(runOptions.timeoutMs, settings.ceilings.runTimeoutMs ?? LIMIT_CEILINGS.runTimeoutMs);
    if (waiting > SESSION_WAITING_RUNS)
      throw new SkillcellError(
        'session.busy',
        `Cannot run the code: ${SESSION_WAITING_RUNS} runs of the session wait already, got ${id}.`,
      );
    waiting += 1;
    const number = (runs += 1);
    const { signal } = runOptions;
    const stop = signal === undefined ? leaving.signal : AbortSignal.any([signal, leaving.signal]);
    // The first run in line waits for no other.
    const before = waiting === 1 ? undefined : turn;
    const work = (async () => {
      try {
        if (before !== undefined) await withinDeadline(before, { signal: stop });
        return await runNow(number, code, runOptions, emit, stop);
      } catch (error) {
        if (signal?.aborted === true && error === signal.reason)
          return unreportedRun({ run: number, epoch, state: 'kept' }, 'canceled');
        throw error;
      } finally {
        waiting -= 1;
      }
    })();
    // A run that leaves the line early must not let later runs overtake earlier ones.
    turn = Promise.allSettled([before, work]);
    return await idle.during(work);
  };

  const stream = (code: string, runOptions: SessionRunOptions): SessionStream => {
    const events = createEventStream();
    const result = run(code, runOptions, (event) => events.push(event));
    result.then(
      () => events.end(),
      () => events.end(),
    );
    return { result, [Symbol.asyncIterator]: () => events[Symbol.asyncIterator]() };
  };

  return {
    runs: sandboxRuns,
    opened: opened.promise,
    requireOpen() {
      if (over !== undefined) throw over;
      if (ground === undefined) throw ended('it was canceled before it began');
    },
    finish(result) {
      if (!needsClaim) claim?.drop();
      return { ...result, diagnostics: [...result.diagnostics, ...notes] };
    },
    publish() {
      try {
        unpublished?.publish();
      } catch (error) {
        // Other processes can claim it after this process has ended.
        settings.logger?.error({ sessionId: id, err: error }, 'the workspace of a session could not be published');
      }
    },
    face: (job) => ({
      id,
      runner: requireGround().sandbox.sandbox.runner,
      isolation: requireGround().sandbox.sandbox.isolation,
      ended: job,
      run: (code, runOptions = {}) => run(code, runOptions, SILENT),
      stream: (code, runOptions = {}) => stream(code, runOptions),
      interrupt() {
        current?.interrupt();
        return current !== undefined;
      },
      files: files.files,
      export: files.export,
      [SANDBOX_PORT]: {
        begin: fileRequests.begin,
        perform: fileRequests.perform,
        spawn: commands.spawn,
        busy: idle.during,
        network: requireGround().job.network?.told,
      },
      close() {
        sendEnd('it was closed');
        return job;
      },
      async [Symbol.asyncDispose]() {
        sendEnd('it was closed');
        await job.catch(() => undefined);
      },
    }),
  };
}

function leftOut(omitted: readonly OmittedFile[]): string {
  const named = omitted.slice(0, NAMED_OMITTED).map(({ path, reason }) => `${path} (${reason})`);
  const more = omitted.length - named.length;
  // When there are very many, the last row only holds a count.
  const counted = omitted.at(-1)?.path === '…' ? `over ${more}` : `${more}`;
  return `Left out of the kept workspace: ${named.join(', ')}${more > 0 ? `, and ${counted} more` : ''}.`;
}

/** A message without a current run breaks the protocol. */
function requireCurrent(current: HostRun | undefined, run: number): HostRun {
  if (current?.run !== run) throw new Error(`a message of a run that is not under way, got ${run}`);
  return current;
}

function requireRunnable(language: string, code: string): void {
  const definition = findLanguage(language);
  if (definition?.session === undefined) throw invalid(`language has no interpreter that stays open, got ${language}`);
  if (definition.reads === 'strings' && code.includes('\0'))
    throw invalid('code must not hold a NUL character, which no shell takes');
}

function requireTime(timeoutMs: number | undefined, most: number): void {
  if (timeoutMs !== undefined && timeoutMs > most) throw invalid(`timeoutMs must be at most ${most}, got ${timeoutMs}`);
}

/** Creates an empty sum of calls. */
function sumCalls(): SessionCalls {
  const rows: CallRow[] = [];
  const totals = new Map<string, CallTotal>();
  return {
    rows,
    get totals() {
      return Object.fromEntries(totals);
    },
    add(more, counted) {
      rows.push(...more.slice(0, Math.max(0, KEPT_ROWS - rows.length)));
      for (const [name, { calls, failed, replayed }] of Object.entries(counted)) {
        const before = totals.get(name) ?? { calls: 0, failed: 0, replayed: 0 };
        totals.set(name, {
          calls: before.calls + calls,
          failed: before.failed + failed,
          replayed: before.replayed + replayed,
        });
      }
    },
  };
}
