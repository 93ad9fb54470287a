import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Selectable } from 'kysely';
import * as z from 'zod';
import { SkillcellError } from '../../contracts/errors/skillcell-error.ts';
import type { JobResult } from '../../contracts/jobs/result.ts';
import { createLimiter } from '../../protocol/limiter.ts';
import { jobRequestSchema } from '../../queue/request/job-request.ts';
import type { JobSummaryRow } from '../../queue/rows/job-rows.ts';
import type { JobRow } from '../../registry/database/tables.ts';
import { notFound, type Viewer } from '../../registry/users/tokens.ts';
import { viewerIn } from '../http/authenticate.ts';
import { API_BASE, idInPath, noContent, numberInQuery, problems } from '../schemas/common.ts';
import { jobFilterFields, jobOf, jobResultSchema, jobSchema, jobSummarySchema } from '../schemas/jobs.ts';
import { type JobListOptions, listJobs } from './list-jobs.ts';
import { readJobForm, type Upload } from './read-job-form.ts';
import type { App, RouteParts } from './route-options.ts';

/** Bytes of a job in JSON, with its program and small files. Larger files come as parts of a form. */
const JOB_BYTES: number = 8 * 1024 * 1024;
const MOST_WAIT_SECONDS = 60;
const KEY = /^[\x21-\x7e]{1,255}$/;

const listQuery = z.strictObject({
  ...jobFilterFields,
  label: z
    .string()
    .max(200)
    .refine((label) => !label.includes('\0'), 'holds a NUL character')
    .optional(),
  user: numberInQuery(1, 999_999_999).optional(),
  q: z.string().max(400).optional(),
  cursor: z.string().max(100).optional(),
  limit: numberInQuery(1, 100).optional(),
});

const cancelBody = z
  .strictObject({ reason: z.string().min(1).max(1_000).optional().meta({ description: 'A text for the result.' }) })
  .nullish();

/** A row may have megabytes. Many that come together would hold up all other requests. */
const rowsAtOnce = createLimiter({ room: 4 });

/**
 * The row of a job, if the user may see it. The job of another user is as missing as one that does not exist.
 *
 * @throws SkillcellError `resource.not-found`
 */
export async function jobFor(
  { queue }: Pick<RouteParts, 'queue'>,
  viewer: Viewer,
  id: string,
): Promise<Selectable<JobRow>> {
  return visible(await rowsAtOnce.run(() => queue.rows.get(id)), viewer);
}

/** The same without the bodies: a long answer must not hold them. */
export async function jobSummaryFor(
  { queue }: Pick<RouteParts, 'queue'>,
  viewer: Viewer,
  id: string,
): Promise<JobSummaryRow> {
  return visible(await queue.rows.summary(id), viewer);
}

function visible<Row extends JobSummaryRow>(row: Row | undefined, { userId, role }: Viewer): Row {
  if (row === undefined || (role === 'member' && row.user_id !== userId)) throw notFound();
  return row;
}

/** Jobs: submission, lists, results, and changes. */
export function addJobRoutes(app: App, parts: RouteParts): void {
  const { queue, database, ending, incoming } = parts;

  app.post(
    '/jobs',
    {
      bodyLimit: JOB_BYTES,
      schema: {
        tags: ['jobs'],
        consumes: ['application/json', 'multipart/form-data'],
        description: 'As a form: the job as JSON in the part `job`, and files in parts `files/<destination>`.',
        headers: z.looseObject({
          'idempotency-key': z.string().regex(KEY).optional(),
          prefer: z.string().max(200).optional(),
        }),
        body: jobRequestSchema,
        response: { 200: jobResultSchema, 202: jobSchema, ...problems },
      },
      // A form is read before the job in it is validated.
      preValidation: async (request, reply) => {
        if (request.isMultipart()) await readJobForm(request, reply, incoming);
      },
    },
    async (request, reply) => {
      const { userId } = viewerIn(request);
      const { 'idempotency-key': key } = request.headers;
      const uploads = request.uploads ?? [];
      const { row } = await queue.submit({ userId, request: request.body, uploads, key });
      request.dropBody();
      return answerJob(request, reply, row);
    },
  );

  app.get(
    '/jobs',
    {
      schema: {
        tags: ['jobs'],
        querystring: listQuery,
        response: { 200: z.object({ items: z.array(jobSummarySchema), next: z.string().nullable() }), ...problems },
      },
    },
    async (request) => {
      const { user, limit = 50, ...filters } = request.query;
      const { role, userId: own } = viewerIn(request);
      // A member sees own jobs only, whatever it asks for.
      if (role === 'member' && user !== undefined && user !== own) return { items: [], next: null };
      const userId = role === 'member' ? own : user;
      return await listJobs(database, { ...(filters as Omit<JobListOptions, 'limit'>), userId, limit });
    },
  );

  app.get(
    '/jobs/:id',
    { schema: { tags: ['jobs'], params: idInPath, response: { 200: jobSchema, ...problems } } },
    async (request) => jobOf(await jobFor(parts, viewerIn(request), request.params.id)),
  );

  app.get(
    '/jobs/:id/result',
    { schema: { tags: ['jobs'], params: idInPath, response: { 200: jobResultSchema, ...problems } } },
    async (request, reply) => sendResult(reply, await jobFor(parts, viewerIn(request), request.params.id)),
  );

  app.post(
    '/jobs/:id/cancel',
    {
      schema: { tags: ['jobs'], params: idInPath, body: cancelBody, response: { 202: jobSchema, ...problems } },
    },
    async (request, reply) => {
      const row = await jobSummaryFor(parts, viewerIn(request), request.params.id);
      if (!(await queue.cancel(row, request.body?.reason ?? 'the user canceled it'))) {
        throw new SkillcellError('resource.read-only', 'Cannot cancel the job: it has ended.', {
          hint: `Read its result at /jobs/${row.id}/result.`,
        });
      }
      return reply.code(202).send(jobOf(await jobFor(parts, viewerIn(request), row.id)));
    },
  );

  app.post(
    '/jobs/:id/rerun',
    { schema: { tags: ['jobs'], params: idInPath, response: { 200: jobResultSchema, 202: jobSchema, ...problems } } },
    async (request, reply) => {
      const viewer = viewerIn(request);
      const row = await jobFor(parts, viewer, request.params.id);
      const again = await queue.rerun(row, viewer.userId);
      return answerJob(request, reply, again);
    },
  );

  app.delete(
    '/jobs/:id',
    { schema: { tags: ['jobs'], params: idInPath, response: { 204: noContent, ...problems } } },
    async (request, reply) => {
      const { id } = await jobSummaryFor(parts, viewerIn(request), request.params.id);
      if (!(await queue.remove(id))) {
        // Another request may have deleted it meanwhile.
        await jobSummaryFor(parts, viewerIn(request), id);
        throw notFinished(id);
      }
      return reply.code(204).send(null);
    },
  );

  /** 202 with the job, or the answer after the time that the client waits, while no row is held. */
  function answerJob(
    request: FastifyRequest,
    reply: FastifyReply,
    row: Selectable<JobRow>,
  ): FastifyReply | Promise<FastifyReply> {
    void reply.header('location', `${API_BASE}/jobs/${row.id}`);
    const seconds = waitOf(request);
    if (seconds === 0) return reply.code(202).send(jobOf(row));
    void reply.header('preference-applied', `wait=${seconds}`);
    return answerLater(request, reply, { id: row.id, seconds });
  }

  /** 200 with the result if the job has ended, else 202 with the job. */
  async function answerLater(
    request: FastifyRequest,
    reply: FastifyReply,
    { id, seconds }: { id: string; seconds: number },
  ): Promise<FastifyReply> {
    const gone = new AbortController();
    const leave = (): void => gone.abort();
    request.raw.socket.once('close', leave);
    const row = await queue.wait(id, seconds * 1_000, AbortSignal.any([gone.signal, ending]));
    request.raw.socket.off('close', leave);
    if (row === undefined) throw notFound();
    if (row.state === 'finished' || !('request' in row)) return sendResult(reply, row);
    return reply.code(202).send(jobOf(row));
  }
}

/** @throws SkillcellError `job.not-finished` */
export function resultOf({ id, result }: Selectable<JobRow>): JobResult {
  if (result === null) throw notFinished(id);
  return JSON.parse(result) as JobResult;
}

/**
 * Sends the result as it is stored: a validation of its megabyte takes 30 ms.
 *
 * @throws SkillcellError `job.not-finished`
 */
function sendResult(reply: FastifyReply, { id, result }: Pick<JobRow, 'id' | 'result'>): FastifyReply {
  if (result === null) throw notFinished(id);
  return reply.code(200).type('application/json; charset=utf-8').send(result);
}

function notFinished(id: string): SkillcellError {
  return new SkillcellError('job.not-finished', `Cannot do this yet: the job has not ended, got ${id}.`);
}

/** Seconds that the client waits for the result, by the header `Prefer: wait=N` (RFC 7240). */
function waitOf({ headers }: FastifyRequest): number {
  const [, seconds = '0'] = /(?:^|[,;]) *wait *= *"?(\d{1,9})/i.exec(String(headers['prefer'] ?? '')) ?? [];
  return Math.min(MOST_WAIT_SECONDS, Number(seconds));
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Files of a form. */
    uploads: readonly Upload[] | null;
  }
}
