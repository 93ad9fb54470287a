import type { Channel, StreamReader, StreamWriter } from '../../src/protocol/channel.ts';
import type { CallError, HostMessage, StreamedBytes } from '../../src/protocol/messages.ts';
import type { BytesPlace } from '../../src/protocol/value-bytes.ts';

/** The host's answer to a call. */
export type CallReply = { ok: true; value: unknown; bytes?: StreamedBytes[] } | { ok: false; error: CallError };

/** A program's call on its way to the host. */
export interface RelayedCall {
  name: string;
  args: unknown;
  places: readonly BytesPlace[];
  /** Called once, before the first of the answer's bytes arrives. */
  onReply(reply: CallReply): void;
  /** Takes bytes of the answer. */
  reader(stream: number): StreamReader;
}

/** The way to the broker. */
export interface CallPort {
  /** Calls for the entry itself; `reader` takes the bytes of the answer. */
  call(target: 'model' | 'host', name: string, args: unknown, reader?: () => StreamReader): Promise<CallReply>;
  /** Passes a call of a program on. Returns a stream for each of its places. */
  relay(call: RelayedCall): StreamWriter[];
}

/** The entry's end of the calls to the broker; ids are the entry's own, whatever a program numbers its calls with. */
export function createCallPort(channel: Channel): CallPort & { settle(reply: HostMessage & { type: 'reply' }): void } {
  const waiting = new Map<number, (reply: CallReply) => void>();
  let last = 0;
  return {
    call(target, name, args, reader) {
      last += 1;
      const id = last;
      return new Promise((resolve) => {
        waiting.set(id, (reply) => {
          const streamed = reply.ok && reader !== undefined ? (reply.bytes ?? []) : [];
          for (const { stream } of streamed) channel.receive(stream, (reader as () => StreamReader)());
          resolve(reply);
        });
        channel.send({ type: 'call', id, target, name, args });
      });
    },
    relay({ name, args, places, onReply, reader }) {
      last += 1;
      const id = last;
      waiting.set(id, (reply) => {
        onReply(reply);
        const streamed = reply.ok ? (reply.bytes ?? []) : [];
        for (const { stream } of streamed) channel.receive(stream, reader(stream));
      });
      const writers = places.map(() => channel.openStream());
      const bytes = places.map((place, index) => ({ ...place, stream: writers[index]?.number }));
      channel.send({ type: 'call', id, target: 'tool', name, args, ...(places.length === 0 ? {} : { bytes }) });
      return writers;
    },
    settle({ id, type: _type, ...reply }) {
      const answer = waiting.get(id);
      waiting.delete(id);
      answer?.(reply);
    },
  };
}
