import type { FastifyReply, FastifyRequest } from 'fastify';
import { SkillcellError } from '../../contracts/errors/skillcell-error.ts';
import { createLimiter } from '../../protocol/limiter.ts';
import { collectGarbage } from '../../protocol/collect-garbage.ts';

const KIB = 1024;
/** Bodies up to this size are always taken. */
const SMALL_BYTES: number = 64 * KIB;
/** Bytes of larger bodies at once. The work on a body takes a few times its size. */
const ROOM_BYTES: number = 12 * 1024 * KIB;
/** Garbage of bodies from this size on is collected at once. */
const GARBAGE_BYTES: number = 1024 * KIB;
/** Milliseconds that a body waits for room. */
const PATIENCE_MS = 30_000;

declare module 'fastify' {
  interface FastifyRequest {
    /** Gives the memory of the body back before the answer. */
    dropBody: () => void;
  }
}

/** Creates the admission of bodies: large ones wait, unread, until there is room in memory. Files of forms go to the disk instead. */
export function createBodyRoom(): (request: FastifyRequest, reply: FastifyReply) => Promise<void> {
  const limiter = createLimiter({ room: ROOM_BYTES });
  return async (request, reply) => {
    const bytes = bodyBytes(request);
    if (bytes <= SMALL_BYTES) return;
    const over = new AbortController();
    const waiting = setTimeout(() => over.abort(), PATIENCE_MS);
    const gone = (): void => over.abort();
    reply.raw.once('close', gone);
    try {
      const leave = await limiter.enter({ weight: bytes, signal: over.signal });
      let isHeld = true;
      const free = (): void => {
        if (!isHeld) return;
        isHeld = false;
        if (bytes < GARBAGE_BYTES) leave?.();
        // The next body would come on top of the garbage of this one.
        else void collectGarbage().finally(leave);
      };
      request.dropBody = () => {
        request.body = undefined;
        free();
      };
      reply.raw.once('close', free);
    } catch {
      throw new SkillcellError('service.unavailable', 'Cannot take the request: other bodies take all the room.');
    } finally {
      clearTimeout(waiting);
      reply.raw.off('close', gone);
    }
  };
}

/** The bytes of a body at most. One that is too large is refused unread. */
function bodyBytes({ headers, routeOptions }: FastifyRequest): number {
  const most = routeOptions.bodyLimit ?? 0;
  const length = headers['content-length'];
  if (length === undefined) return headers['transfer-encoding'] === undefined ? 0 : most;
  return Number(length) > most ? 0 : Number(length);
}
