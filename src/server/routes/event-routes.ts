import type { Writable } from 'node:stream';
import * as z from 'zod';
import { errorEntry } from '../../contracts/errors/error-registry.ts';
import { SkillcellError } from '../../contracts/errors/skillcell-error.ts';
import { isLastEvent } from '../../queue/job-ends.ts';
import { LOG_START, type LogPart, type LogPlace } from '../../queue/seams/job-log.ts';
import { viewerIn } from '../http/authenticate.ts';
import { answerAs, askOther, bytesOf } from '../http/pass-on.ts';
import { RequestRefused } from '../http/problem.ts';
import { API_BASE, eventsAnswer, idInPath, problems } from '../schemas/common.ts';
import { jobSummaryFor } from './job-routes.ts';
import type { App, RouteParts } from './route-options.ts';

const COMMENT_MS = 15_000;
/** Bytes that a reader may have in memory, of events that are not very small. */
const FRAME_BYTES: number = 48 * 1024;
const EVENT_END: Buffer = Buffer.from('\n\n');
const eventId = z.string().max(30);
/** `<attempt>.<offset>` */
const EVENT_ID = /^(\d{1,9})\.(\d{1,15})$/;

/** The events of a job as they come (Server-Sent Events). */
export function addEventRoutes(app: App, parts: RouteParts): void {
  const { queue, log, ending } = parts;

  app.get(
    '/jobs/:id/events',
    {
      schema: {
        tags: ['jobs'],
        params: idInPath,
        description:
          'Server-Sent Events from the first on, or after the event of `Last-Event-ID` or `after`. The stream ends after the last event.',
        querystring: z.strictObject({ after: eventId.optional() }),
        headers: z.looseObject({ 'last-event-id': eventId.optional() }),
        response: { 200: eventsAnswer, ...problems },
      },
    },
    async (request, reply) => {
      const row = await jobSummaryFor(parts, viewerIn(request), request.params.id);
      // The header wins: a client that reconnects sends it.
      const given = request.headers['last-event-id'] || request.query.after || undefined;
      const after = given === undefined ? LOG_START : placeOf(given);
      const gone = new AbortController();
      const { raw } = reply;
      raw.once('close', () => gone.abort());
      const over = AbortSignal.any([gone.signal, ending]);
      const askOwner = (address: string): ReturnType<typeof askOther> => {
        const path = `${API_BASE}/jobs/${row.id}/events?after=${after.attempt}.${after.offset}`;
        return askOther(request, { address, path, signal: over });
      };
      const owner = await queue.addressOf(row);
      if (owner !== undefined) return answerAs(reply, await askOwner(owner));
      await queue.complete(row);
      // The last event may have a log of its own.
      if (after.attempt > row.attempt + 1 || !(await log.isPlace(row.id, after))) throw noPlace(given);
      reply.hijack();
      raw.writeHead(200, {
        ...(reply.getHeaders() as Record<string, string>),
        'content-type': 'text/event-stream; charset=utf-8',
        'cache-control': 'no-store',
        'x-accel-buffering': 'no',
      });
      raw.flushHeaders();
      let isWithin = false;
      const comment = (): void => {
        if (!isWithin && raw.writableLength === 0) raw.write(': waiting\n\n');
      };
      const commenting = setInterval(comment, COMMENT_MS);
      try {
        const begun = await queue.begun(row, over);
        const other = begun && (await queue.addressOf(begun));
        if (other !== undefined) {
          // It sends comments, too.
          clearInterval(commenting);
          const answer = await askOwner(other);
          if (answer.statusCode !== 200) await answer.body.dump();
          else for await (const piece of bytesOf(answer)) await written(raw, piece, over);
        }
        if (begun === undefined || other !== undefined) return raw.end();
        await queue.complete(begun);
        let isEnd = false;
        const frame = createFrame();
        for await (const parts of log.read(row.id, after, over)) {
          isWithin = !parts.every(({ isLast }) => isLast);
          isEnd ||= parts.some(({ isFirst, bytes }) => isFirst && isLastEvent(bytes));
          // A reader that does not read keeps one piece of the log in memory, and slows no other reader.
          await written(raw, frame(parts), over);
          if (isEnd && !isWithin) break;
        }
        raw.end();
      } catch (error) {
        const isAway = SkillcellError.isInstance(error) && errorEntry(error.code).http === 503;
        if (!over.aborted && !isAway) request.log.error({ reason: String(error) }, 'a stream of events failed');
        raw.destroy();
      } finally {
        clearInterval(commenting);
      }
    },
  );
}

/**
 * Creates a function that frames parts in memory of its own, over what it returned before. With new memory for each piece, garbage would
 * come faster than it is collected.
 */
function createFrame(): (parts: readonly LogPart[]) => Buffer {
  let place = Buffer.allocUnsafeSlow(FRAME_BYTES);
  return (parts) => {
    const pieces = parts.flatMap(framed);
    const length = pieces.reduce((sum, piece) => sum + piece.length, 0);
    if (length > place.length) place = Buffer.allocUnsafeSlow(length);
    let at = 0;
    for (const piece of pieces) at += piece.copy(place, at);
    return place.subarray(0, length);
  };
}

/** Writes bytes, and resolves when the system has all of them. */
async function written(stream: Writable, bytes: Buffer, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  const done = Promise.withResolvers<void>();
  const cancel = (): void => done.reject(signal.reason as Error);
  signal.addEventListener('abort', cancel, { once: true });
  stream.write(bytes, (error) => (error ? done.reject(error) : done.resolve()));
  try {
    await done.promise;
  } finally {
    signal.removeEventListener('abort', cancel);
  }
}

/** A part of an event, as Server-Sent Events write it. */
function framed({ place: { attempt, offset }, bytes, isFirst, isLast }: LogPart): Buffer[] {
  return [...(isFirst ? [Buffer.from(`id: ${attempt}.${offset}\ndata: `)] : []), bytes, ...(isLast ? [EVENT_END] : [])];
}

/** @throws RequestRefused */
function placeOf(given: string): LogPlace {
  const [, attempt, offset] = EVENT_ID.exec(given) ?? [];
  if (attempt === undefined || offset === undefined) throw noPlace(given);
  return { attempt: Number(attempt), offset: Number(offset) };
}

function noPlace(given: string | undefined): RequestRefused {
  const detail = 'it is no id of an event of this job';
  return new RequestRefused('request.invalid', `Cannot send the events: ${detail}, got ${JSON.stringify(given)}.`, [
    { pointer: 'after', detail },
  ]);
}
