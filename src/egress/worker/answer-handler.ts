import type { Dispatcher } from 'undici';
import type { DenialReason } from '../../contracts/network/denial-reasons.ts';
import type { NetworkGate } from '../rules/network-gate.ts';
import type { WashTable } from '../secrets/wash-table.ts';
import { washText } from '../secrets/wash-text.ts';
import { createWasher } from '../secrets/washer.ts';
import { answerFault } from './answer-denied.ts';
import { type Exchange, OverQuota } from './exchange.ts';
import { pairs, passedHeaders } from './passed-headers.ts';
import { upstreamFault } from './upstream-fault.ts';
import type { EgressRow } from './worker-messages.ts';

/** Interim answers of one request; none is passed on. */
const MOST_INTERIM = 16;
/** Milliseconds that the head of an answer waits for its body, or for a fault of it. */
const HEAD_DELAY_MS = 5;

/** Options of {@link answerHandler}. */
export interface AnswerRules {
  /** Forms of the secrets that go to the host; undefined without any. */
  table: WashTable | undefined;
  holds(gate: NetworkGate): boolean;
  deny(exchange: Exchange, reason: DenialReason, what: string): void;
}

/** Writes an answer to the program as it arrives, no faster than the program reads. */
export function answerHandler(exchange: Exchange, { table, holds, deny }: AnswerRules): Dispatcher.DispatchHandler {
  const { state, response, request, target, row, finish } = exchange;
  const washer = table === undefined ? undefined : createWasher(table);
  let interim = 0;
  let control: Dispatcher.DispatchController | undefined;
  let isOver = false;
  let hasBody = false;
  const abort = (reason: EgressRow['reason'], error = new Error('the exchange is over')): void => {
    if (isOver) return;
    isOver = true;
    finish(response.headersSent ? response.statusCode : undefined, reason);
    control?.abort(error);
    response.destroy();
  };
  /** Denies an answer that has begun to arrive. */
  const refuse = (reason: DenialReason, what: string): void => {
    isOver = true;
    deny(exchange, reason, what);
    control?.abort(new Error(reason));
  };
  const fail = (error: Error): void => {
    if (isOver) return;
    if (error instanceof OverQuota) return refuse('quota', 'more bytes');
    const reason = upstreamFault(error);
    if (reason === 'address-blocked') return refuse(reason, target.host);
    isOver = true;
    if (response.headersSent) {
      response.destroy();
      finish(response.statusCode, reason);
    } else finish(answerFault(response, reason, target.host), reason);
  };
  const write = (chunk: Buffer): void => {
    if (chunk.length > 0) hasBody = true;
    if (chunk.length > 0 && !response.write(chunk)) control?.pause();
  };
  response.on('drain', () => control?.resume());
  // The program has left before the end of the answer.
  response.on('close', () => {
    if (!response.writableFinished) abort(undefined);
  });

  return {
    onRequestStart(controller) {
      control = controller;
      if (isOver) controller.abort(new Error('the program has left'));
    },
    onResponseStart(controller, status, headers, phrase = '') {
      if (isOver) return;
      if (status < 200) {
        interim += 1;
        if ((status === 101 || interim > MOST_INTERIM) && holds('interim'))
          fail(new Error('an answer with too many beginnings'));
        return;
      }
      const raw = (controller.rawHeaders as Buffer[]).map((bytes) => bytes.toString('latin1'));
      // Undici reads a phrase as UTF-8; as in headers, each character stands for a byte.
      const words = Buffer.from(phrase).toString('latin1');
      response.sendDate = false;
      // A body that comes at once goes into the same packet. Without one, the program must not wait for its first byte.
      setTimeout(() => {
        if (!hasBody && !isOver) response.flushHeaders();
      }, HEAD_DELAY_MS);
      if (table === undefined) {
        response.writeHead(status, words, passedHeaders(raw));
        return;
      }
      const encoding = String(headers['content-encoding'] ?? 'identity').toLowerCase();
      if ((status === 206 || encoding !== 'identity') && holds('response-unscannable'))
        return refuse('response-unscannable', target.host);
      const wash = (text: string): string => washText(text, table);
      // The length of the body changes with it; the length of an answer to HEAD is that of no body.
      const passed = passedHeaders(raw, request.method === 'HEAD' ? [] : ['content-length']);
      response.writeHead(
        status,
        wash(words),
        [...pairs(passed)].flatMap(([name, value]) => [wash(name), wash(value)]),
      );
    },
    onResponseData(_controller, chunk) {
      if (isOver) return;
      row.bytesIn += chunk.length;
      state.used.bytesIn += chunk.length;
      if (state.used.bytesIn > state.job.limits.bytesIn && holds('quota')) return abort('quota');
      for (const piece of washer?.push(chunk) ?? [chunk]) write(piece);
    },
    onResponseEnd() {
      if (isOver) return;
      isOver = true;
      for (const piece of washer?.end() ?? []) write(piece);
      response.end();
      finish(response.statusCode);
    },
    onResponseError: (_controller, error) => fail(error),
  };
}
