import { open, rm, type FileHandle } from 'node:fs/promises';
import { diagnostic, type Diagnostic } from '../contracts/errors/diagnostic.ts';
import { SkillcellError } from '../contracts/errors/skillcell-error.ts';
import type { ErrorCode } from '../contracts/errors/error-registry.ts';
import type { InputFile } from '../contracts/jobs/job.ts';
import type { JobEvent, OutputEvent } from '../contracts/jobs/events.ts';
import type { JobResult } from '../contracts/jobs/result.ts';
import type { JobRequest as OrchestratorJob } from '../jobs/request/job-schema.ts';
import type { JobStream, JobStreamOptions } from '../jobs/orchestrator.ts';
import { lostResult } from '../jobs/result/job-result.ts';
import { diskFault } from './seams/disk-fault.ts';
import { persistently } from './persistently.ts';
import type { ExpectedInput, JobFiles } from './seams/job-files.ts';
import type { JobLog } from './seams/job-log.ts';
import type { StoredRequest } from './request/job-request.ts';
import { writeEvents } from './log-events.ts';
import type { JobRows } from './rows/job-rows.ts';

/** The part of the registry that a job uses. */
export interface JobView {
  /** Id of the team whose skills it has; undefined for all skills of the user. */
  team: number | undefined;
  /** The last version of a skill that it may have; undefined for the present ones. */
  skillsUpTo: number | undefined;
}

/** Starts a job of the orchestrator. */
export type StartJob = (
  job: OrchestratorJob,
  userId: number,
  view: JobView,
  options: Pick<JobStreamOptions, 'attempt' | 'beforeChange' | 'mayCall'>,
) => JobStream | Promise<JobStream>;

/** A stored job, and the number of its attempt. */
export interface QueuedAttempt {
  id: string;
  userId: number;
  attempt: number;
  request: StoredRequest;
}

/** The end of a job. */
export interface QueuedEnd {
  result: JobResult;
  /** Set if the job has no result of its own. */
  errorCode: ErrorCode | null;
}

/** The end of a job that has run. */
export interface QueuedRunEnd extends QueuedEnd {
  /** Number of the last attempt: a job whose sandbox is lost begins another one. */
  attempt: number;
}

/** Options of {@link runQueuedJob}. */
export interface QueuedRunOptions {
  files: JobFiles;
  log: JobLog;
  start: StartJob;
  /** The row of the job. */
  rows: Pick<JobRows, 'restart' | 'change'>;
  mayCall: (() => boolean | Promise<boolean>) | undefined;
  /** Called with each event of the orchestrator. */
  onEvent: (event: JobEvent) => void;
  signal: AbortSignal;
}

const RESTARTED = 'the service ended while the job ran';

/**
 * Runs a job, and writes its events and its output. The last event is left to the caller, after the end is recorded. The stream of the
 * orchestrator is always read, so that no client slows a job.
 */
export async function runQueuedJob(
  { id, userId, attempt: first, request }: QueuedAttempt,
  { files, log, start, rows, mayCall, onEvent, signal }: QueuedRunOptions,
): Promise<QueuedRunEnd> {
  const events = writeEvents(log, id);
  let attempt = first;
  let counted: Promise<unknown> = Promise.resolve();
  const restart = async (next: number): Promise<void> => {
    await rows.restart({ id, attempt });
    attempt = next;
  };
  const beforeChange = async (tool: string): Promise<void> => {
    await counted;
    if (!(await rows.change({ id, attempt }, tool))) throw new Error('The job has ended.');
  };
  const run = async (): Promise<JobResult> => {
    await persistently(() => files.take(id, inputsOf(request)), 'store.unavailable');
    await log.begin(id, first);
    if (first > 1) await beginAnew(first);
    const output = await openOutput(files, id);
    try {
      const job = await start({ ...orchestratorJob(id, request, files), signal }, userId, viewOf(request), {
        attempt: first,
        beforeChange,
        mayCall,
      });
      for await (const event of job) {
        onEvent(event);
        if (event.type === 'finished' || event.type === 'faulted') continue;
        // It was accepted before its first attempt.
        if (event.type === 'accepted' && first > 1) continue;
        if (event.type === 'restarted') await (counted = restart(event.attempt));
        if (event.type === 'run') await output.begin();
        if (event.type === 'output') await output.write(event);
        await events.write(event);
      }
      return await job.result;
    } finally {
      await Promise.all([output.close(), events.flush()]);
    }
  };
  /** Artifacts of the dead process are removed. */
  const beginAnew = async (number: number): Promise<void> => {
    await rm(files.path(id, 'artifacts'), { recursive: true, force: true });
    await events.write({ type: 'restarted', jobId: id, attempt: number, reason: RESTARTED });
  };
  const restarts: Diagnostic[] =
    first === 1
      ? []
      : [diagnostic('sandbox.restarted', `The job was started again, as attempt ${first}: ${RESTARTED}.`)];
  try {
    const result = await run();
    return { attempt, result: { ...result, diagnostics: [...restarts, ...result.diagnostics] }, errorCode: null };
  } catch (thrown) {
    const error = diskFault(thrown);
    const code = SkillcellError.isInstance(error) ? error.code : 'internal.fault';
    const kind = request.job.kind;
    return {
      attempt,
      result: lostResult({ jobId: id, kind, attempt }, code, messageOf(error, files.path(id, ''))),
      errorCode: code,
    };
  }
}

/** The stored inputs of a job, in order. */
export function inputsOf({ files, stdin }: StoredRequest): ExpectedInput[] {
  return [...files, ...(stdin === null ? [] : [{ ...stdin, executable: false }])];
}

function viewOf({ job }: StoredRequest): JobView {
  const team = job.kind === 'codegen' ? job.team : undefined;
  return { team: typeof team === 'number' ? team : undefined, skillsUpTo: job.skillsUpTo };
}

/** The job as the orchestrator takes it: its files and its artifacts lie in the job's folder. */
export function orchestratorJob(
  id: string,
  { job, files, stdin }: StoredRequest,
  paths: Pick<JobFiles, 'path'>,
): OrchestratorJob {
  const { label: _label, files: _files, team: _team, skillsUpTo: _upTo, ...rest } = { team: undefined, ...job };
  const inputs: InputFile[] = files.map(({ destination }, number) => ({
    destination,
    source: paths.path(id, `in/${number}`),
  }));
  return {
    ...rest,
    jobId: id,
    files: inputs,
    ...(stdin !== null ? { stdin: { source: paths.path(id, `in/${files.length}`) } } : {}),
    output: paths.path(id, 'artifacts'),
  } as OrchestratorJob;
}

/** Files with the output of a job. */
export const STREAMS = ['stdout', 'stderr'] as const;

/** The kept output of a job's last run, as two files. */
interface JobOutput {
  /** A run begins: the output of the run before is dropped, as in the result. */
  begin(): Promise<void>;
  write(event: OutputEvent): Promise<void>;
  close(): Promise<void>;
}

async function openOutput(files: JobFiles, id: string): Promise<JobOutput> {
  const handles = new Map<string, FileHandle>();
  const openEmpty = async (stream: string): Promise<void> => {
    handles.set(stream, await open(files.path(id, stream), 'w', 0o600));
  };
  const close = async (): Promise<void> => {
    await Promise.all(Array.from(handles.values(), (handle) => handle.close()));
  };
  let isEmpty = true;
  for (const stream of STREAMS) await openEmpty(stream);
  return {
    async begin() {
      if (isEmpty) return;
      await close();
      for (const stream of STREAMS) await openEmpty(stream);
      isEmpty = true;
    },
    async write({ stream, bytes }) {
      isEmpty = false;
      await handles.get(stream)?.writeFile(bytes);
    },
    close,
  };
}

/** The message of a failure, without paths of the host. */
function messageOf(error: unknown, folder: string): string {
  if (!SkillcellError.isInstance(error)) return 'The service failed.';
  return error.message.replaceAll(folder, '');
}
