import type { IncomingMessage, ServerResponse } from 'node:http';
import { toNodeHandler } from '@modelcontextprotocol/node';
import {
  createMcpHandler,
  isJSONRPCRequest,
  type JSONRPCMessage,
  type JSONRPCRequest,
} from '@modelcontextprotocol/server';
import { SkillcellError } from '../../contracts/skillcell-error.ts';
import { answerEnd } from './answer-end.ts';
import type { McpHost } from './create-mcp-host.ts';
import { guardRequest } from './http-guard.ts';
import { HttpRefused } from './http-refusal.ts';
import { createLegacyCancellation } from './legacy-cancellation.ts';
import { onceAborted } from './once-aborted.ts';
import { createBodyReader, RETRY } from './read-body.ts';
import { MESSAGE_BYTES } from './read-message.ts';
import { createReadTurns, type ReadTurns } from './read-turns.ts';
import { createTokenCheck } from './token-check.ts';

/** More than there may be calls and reads together, so that those do not keep a client from what else it asks for. */
const MOST_REQUESTS = 160;
/** While a client takes a resource the others wait for theirs. */
const READ_MS = 30_000;

/** Answers the requests of all clients, within what they may have under way together. */
export interface HttpAnswers {
  /** @throws {HttpRefused} */
  answer(request: IncomingMessage, response: ServerResponse): Promise<void>;
  close(): Promise<void>;
}

/** Options of {@link createHttpAnswers}. */
export interface HttpAnswersOptions {
  /** Every request has to have it. */
  token: string;
  log(line: string): void;
  /** How long the answer to a read may take to be made and taken, in milliseconds. @default 30,000 */
  readMs?: number;
}

/** Starts with no requests. What a request holds it gives back when its answer is over, however early that is. */
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
  /** Notifications do not count: they end at once, and one may cancel what takes the room. */
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

/** A client that does not take an answer, or little by little, loses its connection, and nothing else is to be had from it. */
function endAfter(limitMs: number, { socket }: IncomingMessage, over: AbortSignal): void {
  const timer = setTimeout(() => socket.destroy(), limitMs);
  onceAborted(over, () => clearTimeout(timer));
}
