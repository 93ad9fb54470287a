import type { FastifyReply, FastifyRequest } from 'fastify';
import * as z from 'zod';
import type { ByteRange, FiledJob } from '../../queue/seams/job-files.ts';
import { viewerIn } from '../http/authenticate.ts';
import { answerAs, askOther } from '../http/pass-on.ts';
import { RequestRefused } from '../http/problem.ts';
import { notFound } from '../../registry/users/tokens.ts';
import { API_BASE, bytesAnswer, problems } from '../schemas/common.ts';
import { jobFor, jobSummaryFor, resultOf } from './job-routes.ts';
import type { App, RouteParts } from './route-options.ts';

const params = z.strictObject({ id: z.string().max(100), stream: z.enum(['stdout', 'stderr']) });
const artifactParams = z.strictObject({ id: z.string().max(100), '*': z.string().max(4_096) });
const artifactSchema = z
  .looseObject({ path: z.string(), bytes: z.int(), sha256: z.string(), mediaType: z.string() })
  .meta({ id: 'Artifact' });
/** Headers of bytes from a sandbox: no script in them runs in the origin of the console. */
const UNTRUSTED = {
  'content-security-policy': "sandbox; default-src 'none'",
  'x-content-type-options': 'nosniff',
  'cache-control': 'private, no-store',
} as const;
/** The same for a frame of the console, which shows the bytes with their own styles and pictures. */
const IN_FRAME = {
  ...UNTRUSTED,
  'content-security-policy': "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; font-src data:",
};

/** The exact bytes that a job has written. */
export function addOutputRoutes(app: App, parts: RouteParts): void {
  const { files, queue } = parts;

  app.get(
    '/jobs/:id/output/:stream',
    {
      schema: {
        tags: ['jobs'],
        params,
        description: 'The kept bytes of the last run; takes `Range`.',
        response: { 200: bytesAnswer, 206: bytesAnswer, ...problems },
      },
    },
    async (request, reply) => {
      const { id, stream } = request.params;
      const job = await jobSummaryFor(parts, viewerIn(request), id);
      const owner = await queue.addressOf(job);
      if (owner !== undefined) {
        const gone = new AbortController();
        reply.raw.once('close', () => gone.abort());
        const path = `${API_BASE}/jobs/${id}/output/${stream}`;
        return answerAs(reply, await askOther(request, { address: owner, path, signal: gone.signal }));
      }
      return await sendFile(request, reply, {
        job,
        name: stream,
        mediaType: 'application/octet-stream',
        fileName: stream,
      });
    },
  );

  app.get(
    '/jobs/:id/artifacts',
    {
      schema: {
        tags: ['jobs'],
        params: z.strictObject({ id: z.string().max(100) }),
        response: { 200: z.array(artifactSchema), ...problems },
      },
    },
    async (request) => resultOf(await jobFor(parts, viewerIn(request), request.params.id)).artifacts as never,
  );

  app.get(
    '/jobs/:id/artifacts/*',
    {
      schema: {
        tags: ['jobs'],
        params: artifactParams,
        description: 'The bytes of an artifact, as an attachment; takes `Range`.',
        response: { 200: bytesAnswer, 206: bytesAnswer, ...problems },
      },
    },
    async (request, reply) => {
      const row = await jobFor(parts, viewerIn(request), request.params.id);
      const path = request.params['*'];
      // Only a listed path is opened.
      const artifact = resultOf(row).artifacts.find((each) => each.path === path);
      if (artifact === undefined) throw notFound();
      // An artifact of an earlier attempt on this host is not that of the job.
      await queue.addressOf(row);
      const fileName = path.slice(path.lastIndexOf('/') + 1);
      return await sendFile(request, reply, {
        job: row,
        name: `artifacts/${path}`,
        mediaType: artifact.mediaType,
        fileName,
      });
    },
  );

  async function sendFile(
    request: FastifyRequest,
    reply: FastifyReply,
    { job, name, mediaType, fileName }: { job: FiledJob; name: string; mediaType: string; fileName: string },
  ): Promise<FastifyReply> {
    const size = await files.size(job, name);
    if (size === undefined) throw notFound();
    const isFrame = request.headers['sec-fetch-dest'] === 'iframe';
    void reply
      .headers(isFrame ? IN_FRAME : UNTRUSTED)
      .type(mediaType)
      .header('accept-ranges', 'bytes');
    const place = isFrame ? 'inline' : 'attachment';
    void reply.header('content-disposition', `${place}; filename*=UTF-8''${encodeURIComponent(fileName)}`);
    const { start, end } = rangeIn(request, size);
    if (start >= end && size > 0) {
      void reply.header('content-range', `bytes */${size}`);
      throw new RequestRefused('request.range', `Cannot send this part: the file has ${size} bytes.`);
    }
    if (end - start < size) void reply.code(206).header('content-range', `bytes ${start}-${end - 1}/${size}`);
    return reply.header('content-length', end - start).send(files.read(job.id, name, { start, end }));
  }
}

/** The requested part of a file: one range of bytes. The whole file for another form, or with `If-Range`, since no validator is sent. */
function rangeIn({ headers }: FastifyRequest, size: number): ByteRange {
  const [, first = '', last = ''] = /^bytes=(\d*)-(\d*)$/.exec(headers.range ?? '') ?? [];
  if ((first === '' && last === '') || headers['if-range'] !== undefined) return { start: 0, end: size };
  if (first === '') return { start: Math.max(0, size - Number(last)), end: size };
  return { start: Number(first), end: last === '' ? size : Math.min(size, Number(last) + 1) };
}
