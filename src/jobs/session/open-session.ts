import { randomUUID } from 'node:crypto';
import type { InputFile } from '../../contracts/jobs/job.ts';
import { LIMIT_CEILINGS } from '../../contracts/jobs/limits.ts';
import type { JobResult } from '../../contracts/jobs/result.ts';
import { SESSION_MS, type Session, type SessionOptions } from '../../contracts/jobs/session.ts';
import { SkillcellError } from '../../contracts/errors/skillcell-error.ts';
import { acceptJob } from '../run/accept-job.ts';
import { createJobQueue } from '../supply/job-queue.ts';
import type { JobHost } from '../run/job-host.ts';
import { beginInSpan } from '../tracing/in-span.ts';
import type { TraceSpan } from '../tracing/trace-span.ts';
import type { ClaimedWorkspace } from './claimed-workspace.ts';
import { createHostSession } from './host-session.ts';
import { openKeptWorkspaces, type KeptWorkspaces } from './kept-workspaces.ts';
import { readArchive } from './read-archive.ts';
import { fileList } from '../request/job-schema.ts';
import { checkSession } from './session-schema.ts';

const MIB = 1024 * 1024;

/** Options of {@link openSession}. */
export interface OpenSessionOptions {
  /** Receives the end of the job, so that closing the orchestrator waits for it. */
  onJob(result: Promise<JobResult>): void;
  /** Throws if no session may be opened now. */
  check(): void;
}

/**
 * Opens a session: a job that is accepted and recorded like any other. It takes a place in the job queue only during its runs.
 *
 * @throws SkillcellError `session.too-many`, `session.unknown`, or as for any job
 */
export async function openSession(host: JobHost, given: SessionOptions, options: OpenSessionOptions): Promise<Session> {
  // Not checked yet: a malformed value is refused below.
  const { resume, sessionId } = Object(given) as SessionOptions;
  const id = resume ?? sessionId ?? randomUUID();
  const span = host.tracing.begin('job', { 'skillcell.job.id': id, 'skillcell.job.kind': 'session' });
  return await beginInSpan(span, () => open(host, given, { ...options, id, span }));
}

async function open(
  host: JobHost,
  given: SessionOptions,
  { onJob, check, id, span }: OpenSessionOptions & { id: string; span: TraceSpan },
): Promise<Session> {
  check();
  const { own, ofJob } = checkSession(given);
  const { settings, sessions } = host;
  if (sessions.size >= settings.maxSessions)
    throw new SkillcellError('session.too-many', `Cannot open the session: ${settings.maxSessions} are open already.`);
  if (sessions.has(id))
    throw new SkillcellError('job.invalid', `Cannot open the session: its id is in use, got ${id}.`);
  sessions.add(id);
  let result: Promise<JobResult>;
  let session: ReturnType<typeof createHostSession>;
  let claim: ClaimedWorkspace | undefined;
  try {
    const kept = settings.stateDir === undefined ? undefined : openKeptWorkspaces(settings.stateDir);
    if (own.resume !== undefined) claim = claimed(own.resume, kept);
    const files = joined(claim === undefined ? [] : await readKept(claim, given), ofJob.files ?? {});
    session = createHostSession({ id, host, options: given, kept, claim });
    const jobTimeoutMs =
      own.sessionTimeoutMs ?? Math.min(SESSION_MS, settings.ceilings.jobTimeoutMs ?? LIMIT_CEILINGS.jobTimeoutMs);
    // The session itself counts against maxSessions only; each run waits for a place in the host's queue.
    const queue = createJobQueue(1, 0);
    const attempt = host.journal?.nextAttempt(id) ?? 1;
    const request = { ...ofJob, kind: 'session' as const, jobId: id, files, limits: { ...ofJob.limits, jobTimeoutMs } };
    result = acceptJob(host, request, undefined, { queue, attempt, runs: session.runs, span });
  } catch (error) {
    claim?.release();
    sessions.delete(id);
    throw error;
  }
  const ended = result
    .then((job) => session.finish(job))
    .finally(() => {
      claim?.release();
      session.publish();
      sessions.delete(id);
    });
  ended.catch(() => undefined);
  onJob(ended);
  const over = await Promise.race([session.opened.then(() => undefined), ended]);
  if (over?.error?.name === 'InstallError')
    throw new SkillcellError('session.ended', `Cannot open the session: ${over.error.message}`);
  session.requireOpen();
  return session.face(ended);
}

function claimed(resume: string, kept: KeptWorkspaces | undefined): ClaimedWorkspace {
  if (kept !== undefined) return kept.claim(resume);
  const message = `Cannot resume the session: the orchestrator has no stateDir, got ${resume}.`;
  throw new SkillcellError('session.unknown', message);
}

async function readKept(claim: ClaimedWorkspace, { limits }: SessionOptions): Promise<InputFile[]> {
  const bytes = (limits?.workspaceMib ?? LIMIT_CEILINGS.workspaceMib) * MIB;
  return await readArchive(claim.read(), { files: LIMIT_CEILINGS.workspaceInodes, bytes });
}

/** Files of the kept workspace and given files; a given file replaces the kept file of the same destination. */
function joined(kept: InputFile[], given: NonNullable<SessionOptions['files']>): NonNullable<SessionOptions['files']> {
  if (kept.length === 0) return given;
  const files = fileList(given);
  const names = new Set(files.map(({ destination }) => destination));
  return [...kept.filter(({ destination }) => !names.has(destination)), ...files];
}
