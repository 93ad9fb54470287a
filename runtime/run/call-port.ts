import type { Channel } from '../../src/protocol/channel.ts';
import type { HostMessage } from '../../src/protocol/messages.ts';
import type { CallPort, CallReply } from './answer-calls.ts';

/** The entry's end of the calls to the broker; ids are the entry's own, whatever a program numbers its calls with. */
export function createCallPort(channel: Channel): CallPort & { settle(reply: HostMessage & { type: 'reply' }): void } {
  const waiting = new Map<number, (reply: CallReply) => void>();
  let last = 0;
  return {
    call(target, name, args) {
      last += 1;
      const id = last;
      return new Promise((resolve) => {
        waiting.set(id, resolve);
        channel.send({ type: 'call', id, target, name, args });
      });
    },
    settle(reply) {
      const resolve = waiting.get(reply.id);
      waiting.delete(reply.id);
      resolve?.(reply.ok ? { ok: true, value: reply.value } : { ok: false, error: reply.error });
    },
  };
}
