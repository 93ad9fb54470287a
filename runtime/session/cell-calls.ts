import type { ToolCallCode } from '../../src/contracts/errors/tool-call-codes.ts';
import { CALLS_UNDER_WAY } from '../../src/protocol/calls-under-way.ts';
import { packAnswer, readAnswer, readCall } from '../../src/protocol/channel/packed-call.ts';
import {
  answerCalls,
  DROPPED,
  type AnswerLink,
  type CallAnswers,
  type CallLimit,
} from '../run/program/answer-calls.ts';
import type { CallPort } from '../run/call-port.ts';
import type { ExecutorLink } from '../run/program/executor-link.ts';

/** The calls of a run that may be interrupted. */
export interface CellCalls extends CallAnswers {
  /** Call when the run is interrupted. The program's report arrives after its calls, so further calls are refused and no longer left unread. */
  interrupt(): void;
}

/**
 * The calls of one run. Its program lives on after the run. It gets the answer that the run is over for its pending calls, and for those before the
 * next run begins.
 */
export function answerCellCalls(port: CallPort, link: ExecutorLink, limit: CallLimit): CellCalls {
  /** Ids of calls without an answer. */
  const pending = new Set<number>();
  let isInterrupted = false;
  const patient: AnswerLink = {
    hold: (reason) => (isInterrupted && reason === 'calls' ? undefined : link.hold(reason)),
    release: (reason) => link.release(reason),
    sendBytes: (part, chunk) => link.sendBytes(part, chunk),
    sendPacked: (packed) => link.sendPacked(packed),
  };
  const calls = answerCalls(
    {
      ...port,
      relay(relayed) {
        const { id } = relayed.call;
        if (isInterrupted && pending.size >= CALLS_UNDER_WAY) {
          relayed.onAnswer(readAnswer(overAnswer(id)));
          return relayed.places.map(() => DROPPED);
        }
        pending.add(id);
        return port.relay({
          ...relayed,
          onAnswer(answer) {
            pending.delete(id);
            relayed.onAnswer(answer);
          },
        });
      },
    },
    patient,
    limit,
  );
  const tellOver = (id: number): void => link.sendPacked(overAnswer(id));
  return {
    ...calls,
    interrupt() {
      isInterrupted = true;
      link.release('calls');
    },
    close() {
      // Closing reads the calls that were left unread.
      link.onCall = (bytes) => tellOver(readCall(bytes).id);
      calls.close();
      pending.forEach(tellOver);
    },
  };
}

function overAnswer(id: number): Buffer {
  const error = { code: 'tool.job-over' satisfies ToolCallCode, message: 'Cannot call: the run is over.' };
  return packAnswer(id, false, { json: JSON.stringify(error) });
}
