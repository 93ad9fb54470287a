import { createHash, randomUUID } from 'node:crypto';
import type { Selectable } from 'kysely';
import { SkillcellError } from '../contracts/errors/skillcell-error.ts';
import { checkRequest } from '../jobs/request/job-schema.ts';
import type { JobRow } from '../registry/database/tables.ts';
import type { JobRequest, ResolvedRequest, StoredRequest } from './request/job-request.ts';
import { storeRequest } from './request/store-request.ts';
import type { JobRows, NewJob } from './rows/job-rows.ts';
import { inputsOf, orchestratorJob } from './run-queued-job.ts';
import type { JobDispatch } from './seams/job-dispatch.ts';
import type { FiledJob, JobFiles, JobInput } from './seams/job-files.ts';
import { createTurns } from './seams/turns.ts';

/** A submitted job. */
export interface Submission {
  userId: number;
  request: JobRequest;
  /** Further input files, by destination: the parts of a form. */
  uploads?: readonly ({ destination: string } & JobInput)[];
  /** The idempotency key. */
  key?: string | undefined;
}

/** Parts that accept jobs. */
export interface JobAcceptanceOptions {
  files: JobFiles;
  dispatch: JobDispatch;
  /** Replaces the names in a request by ids, which mean the same later. */
  resolve(request: JobRequest, userId: number): Promise<ResolvedRequest>;
}

/** Takes jobs: their files are on the disk, then their row is in the database, then they are accepted. */
export interface JobAcceptance {
  /**
   * Accepts a job. It is on the disk when this resolves.
   *
   * @throws SkillcellError `job.invalid`, `quota.exceeded`, `idempotency.mismatch`, `service.unavailable` during the end of the service
   */
  submit(submission: Submission): Promise<{ row: Selectable<JobRow>; isNew: boolean }>;
  /** Submits the same job anew, with the same files and the present skills. */
  rerun(row: Selectable<JobRow>, userId: number): Promise<Selectable<JobRow>>;
  /** Jobs that have files, and not yet a row. */
  readonly accepting: ReadonlySet<string>;
  /** New jobs are refused. */
  stop(): void;
}

/** Creates the acceptance of one queue. */
export function acceptJobs(rows: JobRows, { files, dispatch, resolve }: JobAcceptanceOptions): JobAcceptance {
  const accepting = new Set<string>();
  const inTurn = createTurns();
  let isStopped = false;

  /** Removes the files of a job that has no row. A sweep removes the rest where their place is away: the answer to the client is another. */
  const discard = (id: string): Promise<void> => files.remove(id).catch(() => undefined);

  const accept = async (
    request: StoredRequest,
    inputs: readonly JobInput[],
    {
      userId,
      key,
      rerunOf,
      requestHash,
    }: Pick<NewJob, 'userId' | 'requestHash'> & { key?: string | undefined; rerunOf?: string },
  ): Promise<{ row: Selectable<JobRow>; isNew: boolean }> => {
    if (isStopped) throw ending();
    const id = randomUUID();
    checkRequest(orchestratorJob(id, request, files));
    accepting.add(id);
    try {
      await files.create(id, inputs);
      // One after the other, so that jobs that come at once do not exceed the limit together.
      const inserted = await inTurn('insert', () =>
        rows.insert({
          id,
          userId,
          request,
          requestHash,
          key: key ?? null,
          rerunOf: rerunOf ?? null,
        }),
      );
      if (inserted.isNew) dispatch.look();
      else await discard(id);
      return inserted;
    } catch (error) {
      // Without an answer of the database, the row may be there: then the job runs, or else a sweep removes its files.
      if (SkillcellError.isInstance(error) && error.code === 'database.unavailable') dispatch.look();
      else await discard(id);
      throw error;
    } finally {
      accepting.delete(id);
    }
  };

  return {
    accepting,
    async submit({ userId, request, uploads = [], key }) {
      // The hash is that of the job as the client wrote it.
      const { request: given, inputs } = storeRequest(request, uploads);
      const hashed = hashOf(given);
      const resolved = await resolve(given.job, userId).catch(async (error: unknown) => {
        // A repeated request gets its job, also if a name in it means nothing any more.
        const row = key === undefined ? undefined : await rows.withKey(userId, key, hashed);
        if (row === undefined) throw error;
        return { row, isNew: false };
      });
      if ('row' in resolved) return resolved;
      return await accept({ ...given, job: resolved }, inputs, { userId, key, requestHash: hashed });
    },
    async rerun(row, userId) {
      const request = JSON.parse(row.request) as StoredRequest;
      const inputs = await storedInputs(files, row, request);
      const again = { ...request, job: await resolve(request.job, userId) };
      return (await accept(again, inputs, { userId, rerunOf: row.id, requestHash: row.request_hash })).row;
    },
    stop: () => void (isStopped = true),
  };
}

function hashOf(request: StoredRequest): string {
  return createHash('sha256').update(JSON.stringify(request)).digest('hex');
}

/** The stored inputs of a job. They are read one after the other. */
async function storedInputs(files: JobFiles, job: FiledJob, request: StoredRequest): Promise<JobInput[]> {
  const stored = inputsOf(request);
  await files.take(job.id, stored);
  const inputs = stored.map(async ({ bytes: size, sha256, executable }, number) => {
    const name = `in/${number}`;
    if ((await files.size(job, name)) !== size)
      throw new SkillcellError('file.unreadable', 'Cannot run the job again: its files are gone.');
    return { executable, content: { size, sha256, read: () => files.read(job.id, name, { start: 0, end: size }) } };
  });
  return await Promise.all(inputs);
}

function ending(): SkillcellError {
  return new SkillcellError('service.unavailable', 'Cannot accept the job: the service is ending.');
}
