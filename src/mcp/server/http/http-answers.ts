import type { IncomingMessage, ServerResponse } from 'node:http';
import { toNodeHandler } from '@modelcontextprotocol/node';
import {
  createMcpHandler,
  isJSONRPCRequest,
  type JSONRPCMessage,
  type JSONRPCRequest,
} from '@modelcontextprotocol/server';
import { SkillcellError } from '../../../contracts/errors/skillcell-error.ts';
import type { McpHost } from '../create-mcp-host.ts';
import { guardRequest } from './http-guard.ts';
import { HttpRefused } from './http-refusal.ts';
import { createLegacyCancellation } from './legacy-cancellation.ts';
import { onceAborted } from '../messages/once-aborted.ts';
import { MESSAGE_BYTES, MessageRefused, readMessage } from '../messages/read-message.ts';
import { createReadTurns, type ReadTurns } from '../messages/read-turns.ts';
import { createHash, timingSafeEqual } from 'node:crypto';
import { addPiece } from '../../../protocol/channel/add-piece.ts';

/** Bytes of all bodies that are being read. */
const MOST_BYTES: number = 16 * 1024 * 1024;

/** Reads the message of a request. @throws {HttpRefused} */
type ReadBody = (request: IncomingMessage) => Promise<JSONRPCMessage>;

/** Room comes back soon, so clients may retry. */
const RETRY = { headers: { 'retry-after': '1' } } as const;

/** More than the calls and reads that may be under way, so that those leave room for other requests. */
const MOST_REQUESTS = 160;
/** Time limit of a read, since other clients wait for their turn meanwhile. */
const READ_MS = 30_000;

/** Answers the requests of all clients, within limits that they share. */
export interface HttpAnswers {
  /** @throws {HttpRefused} */
  answer(request: IncomingMessage, response: ServerResponse): Promise<void>;
  close(): Promise<void>;
}

/** Options of {@link createHttpAnswers}. */
export interface HttpAnswersOptions {
  /** The bearer token that every request must have. */
  token: string;
  log(line: string): void;
  /** Time limit for making and sending the answer to a read, in milliseconds. @default 30,000 */
  readMs?: number;
}

/** Starts without requests. A request frees its room when its answer is over, however early that is. */
export function createHttpAnswers(host: McpHost, { token, log, readMs = READ_MS }: HttpAnswersOptions): HttpAnswers {
  const isAllowed = createTokenCheck(token);
  const cancellation = createLegacyCancellation();
  const readBody = createBodyReader();
  const turns = createReadTurns();
  const onerror = (error: Error): void => log(error.message);
  const handler = createMcpHandler(() => host.face(), {
    onerror,
    maxSubscriptions: 16,
    maxRequestBodySize: MESSAGE_BYTES,
  });
  host.onListChanged(() => handler.notify.resourcesChanged());
  let underWay = 0;
  /** Notifications do not count: they end at once, and may cancel a request that takes the room. */
  const enter = ({ id }: JSONRPCRequest, over: AbortSignal): void => {
    if (underWay >= MOST_REQUESTS)
      throw new HttpRefused(503, `${MOST_REQUESTS} requests are under way`, { ...RETRY, id });
    underWay += 1;
    onceAborted(over, () => (underWay -= 1));
  };

  return {
    async answer(request, response) {
      guardRequest(request, isAllowed);
      const over = answerEnd(response);
      const message = await readBody(request);
      if (isJSONRPCRequest(message)) enter(message, over);
      cancellation.take(request, message);
      const { signal: canceled, forget } = cancellation.follow(request, message);
      onceAborted(over, forget);
      if (isRead(message)) {
        onceAborted(over, await turnOf(turns, message, AbortSignal.any([over, canceled])));
        endAfter(readMs, request, over);
      }
      over.throwIfAborted();
      for (const [name, value] of Object.entries(cancellation.headersFor(message))) response.setHeader(name, value);
      const fetch: typeof handler.fetch = (web, options) =>
        handler.fetch(new Request(web, { signal: AbortSignal.any([web.signal, canceled]) }), options);
      await toNodeHandler({ fetch }, { onerror })(request as never, response, message);
    },
    close: () => handler.close(),
  };
}

function isRead(message: JSONRPCMessage): message is JSONRPCRequest {
  return isJSONRPCRequest(message) && message.method === 'resources/read';
}

async function turnOf(turns: ReadTurns, { id }: JSONRPCRequest, signal: AbortSignal): Promise<() => void> {
  try {
    return await turns.take(signal);
  } catch (error) {
    if (SkillcellError.isInstance(error)) throw new HttpRefused(503, error.message, { ...RETRY, id });
    throw new HttpRefused(400, 'its client gave it up', { id });
  }
}

/** Ends the connection of a client that takes an answer too slowly; no other request could use it. */
function endAfter(limitMs: number, { socket }: IncomingMessage, over: AbortSignal): void {
  const timer = setTimeout(() => socket.destroy(), limitMs);
  onceAborted(over, () => clearTimeout(timer));
}

/** Aborts when an answer is over: it was sent, or its client is gone. */
function answerEnd(response: ServerResponse): AbortSignal {
  const over = new AbortController();
  const end = (): void => over.abort(new Error('the answer is over'));
  if (response.closed) end();
  else response.once('close', end);
  return over.signal;
}

/** Compares an authorization header with a bearer token, in a time that reveals nothing about either. */
function createTokenCheck(token: string): (authorization: string | undefined) => boolean {
  const expected = digestOf(token);
  return (authorization) => {
    const [, given] = /^Bearer +(\S+)$/i.exec(authorization ?? '') ?? [];
    return given !== undefined && timingSafeEqual(digestOf(given), expected);
  };
}

/** Digests have one length for all texts. */
function digestOf(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

/** Creates a reader of bodies that share one limit of bytes. */
function createBodyReader(): ReadBody {
  let held = 0;
  return async (request) => {
    const parts: Buffer[] = [];
    let size = 0;
    try {
      for await (const part of request) {
        const bytes = part as Buffer;
        size += bytes.length;
        held += bytes.length;
        if (size > MESSAGE_BYTES) throw new HttpRefused(413, `a message may have at most ${MESSAGE_BYTES} bytes`);
        if (held > MOST_BYTES) throw new HttpRefused(503, 'other requests take all the room', RETRY);
        addPiece(parts, bytes);
      }
      return readMessage(Buffer.concat(parts));
    } catch (error) {
      if (!(error instanceof MessageRefused)) throw error;
      const { code, id } = error;
      throw new HttpRefused(400, reasonOf(error), { code, id });
    } finally {
      held -= size;
    }
  };
}

function reasonOf({ message }: MessageRefused): string {
  return message.replace(/^Cannot read the message: /, '').replace(/\.$/, '');
}
