import type { Readable, Writable } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import {
  isJSONRPCErrorResponse,
  isJSONRPCRequest,
  isJSONRPCResultResponse,
  type JSONRPCMessage,
  type RequestId,
  type Transport,
} from '@modelcontextprotocol/server';
import { SkillcellError } from '../../../contracts/errors/skillcell-error.ts';
import { jsonPieces } from './json-pieces.ts';
import { createLineSplitter } from '../../../protocol/line-splitter.ts';
import { onceAborted } from '../messages/once-aborted.ts';
import { MESSAGE_BYTES, MessageRefused, readMessage, refusalAnswer } from '../messages/read-message.ts';
import { createReadTurns } from '../messages/read-turns.ts';
import { createRequestsUnderWay } from './requests-under-way.ts';

/** JSON-RPC leaves this range to servers. */
const SERVER_BUSY = -32000;
/** Lines that are taken before their answers are awaited. */
const LINES_AT_ONCE = 16;

/** A line without its end, or the mark of a longer one. */
type ReceivedLine = Buffer | 'too-long';

/** A transport that reports its end: its client is gone, or it was closed. */
export interface LineTransport extends Transport {
  readonly ended: Promise<void>;
}

/**
 * Messages as lines of two streams, for a client that may send anything: the length of a line is bounded, its cost is bounded before it is
 * parsed, an invalid message is answered with a code, and reading stops while the client takes no answers.
 */
export function createLineTransport(input: Readable, output: Writable): LineTransport {
  const lines: ReceivedLine[] = [];
  const split = createLineSplitter(MESSAGE_BYTES, {
    line: (line) => void lines.push(line),
    tooLong: () => void lines.push('too-long'),
  });
  const turns = createReadTurns();
  const requests = createRequestsUnderWay();
  let isClosed = false;

  let draining: Promise<void> | undefined;
  const drain = (): Promise<void> => (draining ??= drained(output).finally(() => (draining = undefined)));

  const put = async (text: string): Promise<void> => {
    if (isClosed || output.destroyed) throw new Error('the connection is closed');
    if (!output.write(text)) await drain();
  };
  const writeLine = async (message: object): Promise<void> => {
    for (const piece of jsonPieces(message)) await put(piece);
  };
  let last = Promise.resolve();
  /** Writes one line after the other: a long one goes in pieces, as its client takes them. */
  const write = async (message: object): Promise<void> => {
    const line = last.then(() => writeLine(message));
    last = line.catch(() => undefined);
    await line;
  };

  /** Returns whether a read may start: its turn came before it was abandoned. */
  const takeTurn = async (id: RequestId, over: AbortSignal): Promise<boolean> => {
    try {
      onceAborted(over, await turns.take(over));
      return !over.aborted;
    } catch (error) {
      if (over.aborted) return false;
      if (!SkillcellError.isInstance(error)) throw error;
      requests.release(id);
      const { code, message, hint } = error;
      await write({ jsonrpc: '2.0', id, error: { code: SERVER_BUSY, message, data: { code, hint } } });
      return false;
    }
  };

  /** A message that needs no turn is delivered at once, before later ones. */
  const deliver = async (message: JSONRPCMessage): Promise<void> => {
    if (isJSONRPCRequest(message)) {
      const { id, method } = message;
      const over = requests.begin(id);
      if (method === 'resources/read' && !(await takeTurn(id, over))) return;
    }
    transport.onmessage?.(message);
    if ('method' in message && message.method === 'notifications/cancelled')
      requests.release(message.params?.['requestId'])();
  };

  const receive = async (line: ReceivedLine): Promise<void> => {
    try {
      if (line === 'too-long') throw new MessageRefused(-32600, `a message may have at most ${MESSAGE_BYTES} bytes`);
      await deliver(readMessage(line));
    } catch (error) {
      if (!(error instanceof MessageRefused)) throw error;
      await write(refusalAnswer(error));
    }
  };

  /** Received lines are handled before more input is read, and answers are drained before more requests are taken. */
  const breathe = async (): Promise<void> => {
    await turn();
    if (output.writableNeedDrain) await drain();
  };

  const pump = async (): Promise<void> => {
    for await (const piece of input) {
      split(piece as Buffer);
      for (const [index, line] of lines.splice(0).entries()) {
        if (line.length > 0) receive(line).catch(fault);
        if (index % LINES_AT_ONCE === 0) await breathe();
        if (isClosed) return;
      }
      await breathe();
    }
  };

  const fault = (error: unknown): void => {
    if (!isClosed) transport.onerror?.(error instanceof Error ? error : new Error(String(error)));
  };

  const { promise: ended, resolve: end } = Promise.withResolvers<void>();
  const transport: LineTransport = {
    ended,
    async start() {
      pump()
        .catch(fault)
        .then(() => transport.close())
        .catch(fault);
    },
    async send(message) {
      const isAnswer = isJSONRPCResultResponse(message) || isJSONRPCErrorResponse(message);
      const end = isAnswer ? requests.release(message.id) : undefined;
      try {
        await write(message);
      } finally {
        end?.();
      }
    },
    async close() {
      if (isClosed) return;
      isClosed = true;
      input.destroy();
      requests.close();
      transport.onclose?.();
      end();
    },
  };
  return transport;
}

/** Resolves when a stream has room again, or is over. */
async function drained(output: Writable): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  output.once('drain', resolve);
  output.once('close', resolve);
  if (output.destroyed || !output.writableNeedDrain) resolve();
  await promise;
  output.off('drain', resolve);
  output.off('close', resolve);
}
