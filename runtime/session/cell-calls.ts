import type { ToolCallCode } from '../../src/contracts/tool-call-codes.ts';
import { packAnswer, readCall } from '../../src/protocol/packed-call.ts';
import { answerCalls, type CallAnswers, type CallLimit } from '../run/answer-calls.ts';
import type { CallPort } from '../run/call-port.ts';
import type { ExecutorLink } from '../run/executor-link.ts';

/**
 * The calls of one run. Its program lives on when the run is over: it is told that its calls are over as well, those without an answer
 * and those that it makes before the next run begins.
 */
export function answerCellCalls(port: CallPort, link: ExecutorLink, limit: CallLimit): CallAnswers {
  /** Ids of calls without an answer. */
  const pending = new Set<number>();
  const calls = answerCalls(
    {
      ...port,
      relay(relayed) {
        const { id } = relayed.call;
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
    link,
    limit,
  );
  const tellOver = (id: number): void => {
    const error = { code: 'tool.job-over' satisfies ToolCallCode, message: 'Cannot call: the run is over.' };
    link.sendPacked(packAnswer(id, false, { json: JSON.stringify(error) }));
  };
  return {
    ...calls,
    close() {
      calls.close();
      pending.forEach(tellOver);
      link.onCall = (bytes) => tellOver(readCall(bytes).id);
    },
  };
}
