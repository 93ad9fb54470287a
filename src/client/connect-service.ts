import { randomUUID } from 'node:crypto';
import * as z from 'zod/mini';
import { checkOptions } from '../contracts/checks/check-options.ts';
import { ERROR_REGISTRY, type ErrorCode } from '../contracts/errors/error-registry.ts';
import { SkillcellError } from '../contracts/errors/skillcell-error.ts';
import type { JobResult } from '../contracts/jobs/result.ts';
import { createEventStream, type EmitEvent } from '../jobs/events/event-stream.ts';
import { createOutputEvents } from '../jobs/events/output-events.ts';
import type { JobStream } from '../jobs/orchestrator.ts';
import { jobResult, withReasons } from '../jobs/result/job-result.ts';
import { createJobCancellation, type JobCancellation } from '../jobs/run/job-cancellation.ts';
import { shownPathFault } from '../protocol/files/shown-path.ts';
import { jsonOf, serviceConnection } from './ask-service.ts';
import { followJob } from './follow-job.ts';
import { saveArtifacts } from './save-artifacts.ts';
import type { ConnectServiceOptions, ServiceClient, ServiceJob } from './service-client.ts';
import { wireJob } from './wire-job.ts';

const encodingSchema = z.optional(z.literal('utf8'));
const jobSchema = z.looseObject({ id: z.string().check(z.regex(/^[\w-]{1,100}$/)), errorCode: z.nullable(z.string()) });
const promptSchema = z.looseObject({ prompt: z.string() });
const JSON_TYPE = { 'content-type': 'application/json' };

/**
 * Connects to a service. Its jobs run as those of `createOrchestrator()`, with the skills, the model and the limits of the service.
 * Nothing is requested before the first call.
 *
 * @throws SkillcellError `options.invalid`
 * @example
 * ```ts
 * import { connectService } from 'skillcell/client';
 *
 * await using service = connectService({ url: 'http://127.0.0.1:7420', token: 'skc_example' });
 * const job = { code: 'console.log(6 * 7)', context: { user: 'u1' } };
 * // The context of a job is for tools of this process, and the service has none of them.
 * await service.exec(job).catch(({ code }) => console.log(code));
 * // prints: options.invalid
 * ```
 */
export function connectService(options: ConnectServiceOptions): ServiceClient {
  const { ask, patience } = serviceConnection(options);
  const running = new Map<JobCancellation, Promise<unknown>>();
  let isClosed = false;

  /** Sends a job, once: a repeated request has the same key. */
  const submit = async (body: string | FormData): Promise<string> => {
    const headers = { ...(typeof body === 'string' ? JSON_TYPE : {}), 'idempotency-key': randomUUID() };
    return (await ask('/jobs', { method: 'POST', headers, body }, jsonOf(jobSchema))).id;
  };

  /** Runs a job to its end. @param emit takes its events, if they are read */
  const run = async (job: ServiceJob, cancellation: JobCancellation, emit?: EmitEvent): Promise<JobResult> => {
    if (isClosed) throw new SkillcellError('orchestrator.closed', 'Cannot accept the job: the client is closed.');
    const { signal, reasons } = cancellation;
    const { body, diagnostics } = await wireJob(job);
    if (signal.aborted) {
      const accepted = { jobId: randomUUID(), kind: job.kind, attempt: 1 };
      const result = withReasons(jobResult({ accepted, ended: { outcome: 'canceled' }, diagnostics }), reasons);
      await emit?.({ type: 'finished', jobId: result.jobId, result });
      return result;
    }
    const jobId = await submit(body);
    const canceling = once(signal, () => client.cancel(jobId, reasons[0]));
    const output = createOutputEvents(jobId, emit ?? (() => Promise.resolve()));
    try {
      for await (const event of followJob(ask, jobId, patience())) {
        if (event.type === 'output') {
          await output.write(
            event.stream,
            Buffer.from(event.text ?? event.base64 ?? '', event.text === undefined ? 'base64' : 'utf8'),
          );
          continue;
        }
        if (event.type === 'run' || event.type === 'restarted' || event.type === 'finished') output.flush();
        if (event.type !== 'finished') {
          await emit?.(event);
          continue;
        }
        const result = await kept(job, await judged(event.result));
        const whole = { ...result, diagnostics: [...diagnostics, ...result.diagnostics] };
        await emit?.({ ...event, result: whole });
        return whole;
      }
      throw new SkillcellError('internal.fault', 'Cannot go on: the events of the job ended early.');
    } finally {
      await canceling();
    }
  };

  /** A job that could not run has an error code of the service, and is an error here, as with the orchestrator. */
  const judged = async (result: JobResult): Promise<JobResult> => {
    const { runner, error, jobId } = result;
    if (runner !== null || error === undefined || !Object.hasOwn(ERROR_REGISTRY, error.name)) return result;
    const { errorCode } = await ask(`/jobs/${jobId}`, {}, jsonOf(jobSchema));
    if (errorCode === null) return result;
    throw new SkillcellError(error.name as ErrorCode, error.message);
  };

  const kept = async (job: ServiceJob, result: JobResult): Promise<JobResult> =>
    job.output === undefined
      ? result
      : await saveArtifacts((path) => client.readArtifact(result, path), result, job.output);

  const start = (job: ServiceJob, emit?: EmitEvent): Promise<JobResult> => {
    const cancellation = createJobCancellation();
    const unfollow = job.signal instanceof AbortSignal ? cancellation.follow(job.signal) : () => undefined;
    const result = run(job, cancellation, emit).finally(() => {
      unfollow();
      running.delete(cancellation);
    });
    running.set(cancellation, result);
    return result;
  };

  const stream = (job: ServiceJob): JobStream => {
    const events = createEventStream();
    let jobId = '';
    const result = start(job, (event) => {
      ({ jobId } = event);
      return events.push(event);
    });
    result.then(events.end, (cause: unknown) => {
      const error = SkillcellError.isInstance(cause)
        ? cause
        : new SkillcellError('internal.fault', String(cause), { cause });
      void events.push({ type: 'faulted', jobId, error });
      events.end();
    });
    return {
      get jobId() {
        return jobId;
      },
      result,
      [Symbol.asyncIterator]: () => events[Symbol.asyncIterator](),
    };
  };

  async function readArtifact(result: Pick<JobResult, 'jobId'>, path: string): Promise<Buffer>;
  async function readArtifact(result: Pick<JobResult, 'jobId'>, path: string, encoding: 'utf8'): Promise<string>;
  async function readArtifact(
    { jobId }: Pick<JobResult, 'jobId'>,
    path: string,
    encoding?: 'utf8',
  ): Promise<Buffer | string> {
    checkOptions(encodingSchema, encoding, { action: 'read an artifact', whole: 'the encoding' });
    const shown = path.split('/').map(encodeURIComponent).join('/');
    try {
      if (shownPathFault(path) !== undefined) throw new SkillcellError('resource.not-found', 'Cannot find it.');
      const bytes = await ask(`${jobPath(jobId)}/artifacts/${shown}`, {}, async (answer) =>
        Buffer.from(await answer.arrayBuffer()),
      );
      return encoding === undefined ? bytes : bytes.toString(encoding);
    } catch (cause) {
      if (!hasCode(cause, 'resource.not-found')) throw cause;
      const message = `Cannot read an artifact: the service has none of this path, got ${JSON.stringify(path)} of job ${jobId}.`;
      throw new SkillcellError('file.unreadable', message, { cause, hint: 'Use a path of the result of the job.' });
    }
  }

  const client: ServiceClient = {
    exec: (job) => start({ ...job, kind: 'exec' }),
    codegen: (job) => start({ ...job, kind: 'codegen' }),
    script: (job) => start({ ...job, kind: 'script' }),
    stream,
    async cancel(jobId, reason) {
      const body = JSON.stringify(reason === undefined ? {} : { reason: reason.slice(0, 1_000) });
      try {
        await ask(`${jobPath(jobId)}/cancel`, { method: 'POST', headers: JSON_TYPE, body }, jsonOf(jobSchema));
        return true;
      } catch (error) {
        if (hasCode(error, 'resource.not-found') || hasCode(error, 'resource.read-only')) return false;
        throw error;
      }
    },
    readArtifact,
    async invokeSkill(name, { team, signal } = {}) {
      const body = JSON.stringify({ skill_name: name, team });
      const request = { method: 'POST' as const, headers: JSON_TYPE, body, signal };
      return (await ask('/skills/invoke', request, jsonOf(promptSchema))).prompt;
    },
    async close() {
      isClosed = true;
      for (const cancellation of running.keys()) cancellation.cancel('the client was closed');
      await Promise.allSettled(running.values());
    },
    [Symbol.asyncDispose]: () => client.close(),
  };
  return client;
}

/** Acts once on an abort. @returns a function that stops waiting for it, or waits for the end of the act */
function once(signal: AbortSignal, act: () => Promise<unknown>): () => Promise<void> {
  let acting: Promise<unknown> | undefined;
  // The end of the job says whether it was canceled: a lost cancellation fails there.
  const begin = (): void => void (acting = act().catch(() => undefined));
  if (signal.aborted) begin();
  else signal.addEventListener('abort', begin, { once: true });
  return async () => {
    signal.removeEventListener('abort', begin);
    await acting;
  };
}

function hasCode(error: unknown, code: ErrorCode): boolean {
  return SkillcellError.isInstance(error) && error.code === code;
}

/** An id without dots and slashes: no other path can be meant. */
function jobPath(jobId: string): string {
  return `/jobs/${/^[\w-]{1,100}$/.test(jobId) ? jobId : '-'}`;
}
