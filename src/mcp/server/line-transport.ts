import type { Readable, Writable } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import {
  isJSONRPCErrorResponse,
  isJSONRPCRequest,
  isJSONRPCResultResponse,
  type JSONRPCMessage,
  type Transport,
} from '@modelcontextprotocol/server';
import { SkillcellError } from '../../contracts/skillcell-error.ts';
import { createLineSplitter, type SplitLine } from './line-splitter.ts';
import { onceAborted } from './once-aborted.ts';
import { MESSAGE_BYTES, MessageRefused, readMessage, refusalAnswer } from './read-message.ts';
import { createReadTurns } from './read-turns.ts';

/** JSON-RPC leaves this range to servers. */
const SERVER_BUSY = -32000;
/** Lines that are taken before their answers are waited for. */
const LINES_AT_ONCE = 16;

/** A transport that says when it is over: its client is gone, or it was closed. */
export interface LineTransport extends Transport {
  readonly ended: Promise<void>;
}

/**
 * Messages as lines of two streams, for a client that may send anything: a line has an end, what it says is bounded before it is parsed,
 * what is no message is answered with a code, and nothing more is read while the client takes no answers.
 */
export function createLineTransport(input: Readable, output: Writable): LineTransport {
  const split = createLineSplitter(MESSAGE_BYTES);
  const turns = createReadTurns();
  /** Reads that wait for their turn or have it, by the ids of their requests. */
  const reads = new Map<string | number, AbortController>();
  let isClosed = false;

  let draining: Promise<void> | undefined;
  const drain = (): Promise<void> => (draining ??= drained(output).finally(() => (draining = undefined)));

  const write = async (message: object): Promise<void> => {
    if (isClosed || output.destroyed) throw new Error('the connection is closed');
    if (!output.write(`${JSON.stringify(message)}\n`)) await drain();
  };

  const endRead = (id: unknown): void => {
    const over = reads.get(id as string | number);
    reads.delete(id as string | number);
    over?.abort();
  };

  const deliver = async (message: JSONRPCMessage): Promise<void> => {
    if (isJSONRPCRequest(message) && message.method === 'resources/read') {
      const over = new AbortController();
      reads.set(message.id, over);
      try {
        onceAborted(over.signal, await turns.take(over.signal));
      } catch (error) {
        if (over.signal.aborted) return;
        if (!SkillcellError.isInstance(error)) throw error;
        endRead(message.id);
        const { code, message: text, hint } = error;
        const data = { code, hint };
        await write({ jsonrpc: '2.0', id: message.id, error: { code: SERVER_BUSY, message: text, data } });
        return;
      }
      // Given up in the moment in which its turn came.
      if (over.signal.aborted) return;
    }
    transport.onmessage?.(message);
    if ('method' in message && message.method === 'notifications/cancelled') endRead(message.params?.['requestId']);
  };

  const receive = (line: SplitLine): Promise<void> => {
    try {
      if (line === 'too-long') throw new MessageRefused(-32600, `a message may have ${MESSAGE_BYTES} bytes`);
      return deliver(readMessage(line));
    } catch (error) {
      if (!(error instanceof MessageRefused)) throw error;
      return write(refusalAnswer(error));
    }
  };

  /** What came is begun before more of it is looked at, and answers are taken before more is asked. */
  const breathe = async (): Promise<void> => {
    await turn();
    if (output.writableNeedDrain) await drain();
  };

  const pump = async (): Promise<void> => {
    for await (const piece of input) {
      for (const [index, line] of split(piece as Buffer).entries()) {
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
      try {
        await write(message);
      } finally {
        if (isJSONRPCResultResponse(message) || isJSONRPCErrorResponse(message)) endRead(message.id);
      }
    },
    async close() {
      if (isClosed) return;
      isClosed = true;
      input.destroy();
      for (const id of reads.keys()) endRead(id);
      transport.onclose?.();
      end();
    },
  };
  return transport;
}

/** Resolves when a stream takes more again, or is over. */
async function drained(output: Writable): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  output.once('drain', resolve);
  output.once('close', resolve);
  if (output.destroyed || !output.writableNeedDrain) resolve();
  await promise;
  output.off('drain', resolve);
  output.off('close', resolve);
}
