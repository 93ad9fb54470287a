import type { ExecutorLink, ExecutorMessage } from './executor-link.ts';

/** The host's answer to a call. */
export type CallReply = { ok: true; value: unknown } | { ok: false; error: { name: string; message: string } };

/** The way to the broker. */
export interface CallPort {
  call(target: 'tool' | 'model', name: string, args: unknown): Promise<CallReply>;
}

/** Calls that one program may have under way; more wait in its own pipe. */
const MAX_UNDER_WAY = 64;
const MAX_NAME = 200;
/** What the broker takes is less; this keeps the channel from carrying what would end it. */
const MAX_ARGUMENTS_BYTES = 1024 * 1024;

/**
 * Passes the calls of one program on to the broker, and the answers back. User code may call tools, never a model
 * directly. Ids must rise, so that a replayed one is refused. `onExhausted` is told when more than `refusals` calls were
 * refused here: each costs an answer that a program may never read.
 */
export function answerCalls(
  port: CallPort,
  link: ExecutorLink,
  limit: { refusals: number; onExhausted(): void },
): { take(message: ExecutorMessage & { type: 'call' }): void; close(): void } {
  let lastId = 0;
  let underWay = 0;
  let refused = 0;
  let open = true;

  const refuse = (id: unknown, message: string): void => {
    refused += 1;
    if (refused > limit.refusals) return limit.onExhausted();
    const error = { name: 'CallRefused', message: `Cannot call: ${message}.` };
    link.send({ type: 'reply', id: typeof id === 'number' ? id : 0, ok: false, error });
  };

  return {
    take({ id, target, name, args }) {
      if (!open) return;
      if (typeof id !== 'number' || !Number.isSafeInteger(id) || id <= lastId)
        return refuse(id, 'its id is no new number');
      lastId = id;
      if (target !== 'tool') return refuse(id, 'programs may call tools only');
      if (typeof name !== 'string' || name === '' || name.length > MAX_NAME) return refuse(id, 'it names no tool');
      if (Buffer.byteLength(JSON.stringify(args ?? null)) > MAX_ARGUMENTS_BYTES)
        return refuse(id, 'its arguments are too large');
      underWay += 1;
      if (underWay >= MAX_UNDER_WAY) link.hold('calls');
      void port.call('tool', name, args).then((reply) => {
        underWay -= 1;
        if (!open) return;
        link.send({ type: 'reply', id, ...reply });
        link.release('calls');
      });
    },
    close() {
      open = false;
      // What the program said after its last call is still heard.
      link.release('calls');
      link.release('answers');
    },
  };
}
