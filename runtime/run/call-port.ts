import { parseBoundedJson } from '../../src/protocol/channel/bounded-json.ts';
import type { Channel, StreamReader, StreamWriter } from '../../src/protocol/channel/channel.ts';
import type { CallError, StreamedBytes } from '../../src/protocol/messages/messages.ts';
import {
  jsonOf,
  nameOf,
  packCall,
  placesOf,
  readAnswer,
  renumbered,
  type CallTarget,
  type PackedAnswer,
  type PackedCall,
} from '../../src/protocol/channel/packed-call.ts';
import type { BytesPlace } from '../../src/protocol/messages/value-bytes.ts';

/** The host's answer to a call. */
export type CallReply = { ok: true; value: unknown } | { ok: false; error: CallError };

/** A program's call to the host. */
export interface RelayedCall {
  call: PackedCall;
  places: readonly BytesPlace[];
  /** Called once, before the first of the answer's bytes arrives. */
  onAnswer(answer: PackedAnswer): void;
  /** Takes bytes of the answer. */
  reader(stream: number): StreamReader;
}

/** The connection to the broker. */
export interface CallPort {
  /** A call of the entry itself; `reader` takes the bytes of the answer. */
  call(
    target: Exclude<CallTarget, 'tool'>,
    name: string,
    args: unknown,
    reader?: () => StreamReader,
  ): Promise<CallReply>;
  /** Passes a call of a program on. Returns a stream for each of its places. */
  relay(call: RelayedCall): StreamWriter[];
}

/** The entry's end of the calls to the broker. The entry numbers the calls itself and ignores the ids of programs. */
export function createCallPort(channel: Channel): CallPort & { settle(answer: Buffer): void } {
  const waiting = new Map<number, (answer: PackedAnswer) => void>();
  let last = 0;
  return {
    call(target, name, args, reader) {
      last += 1;
      const id = last;
      return new Promise((resolve) => {
        waiting.set(id, (answer) => {
          const streams = reader === undefined ? [] : streamsOf(answer);
          for (const { stream } of streams) channel.receive(stream, (reader as () => StreamReader)());
          resolve(readReply(answer));
        });
        channel.sendPacked(packCall(id, target, name, { json: JSON.stringify(args ?? null) }));
      });
    },
    relay({ call, places, onAnswer, reader }) {
      last += 1;
      const id = last;
      waiting.set(id, (answer) => {
        const streams = streamsOf(answer);
        onAnswer(answer);
        for (const { stream } of streams) channel.receive(stream, reader(stream));
      });
      const writers = places.map(() => channel.openStream());
      if (places.length === 0) channel.sendPacked(renumbered(call, id));
      else {
        const streamed = places.map((place, index) => ({ ...place, stream: writers[index]?.number }));
        channel.sendPacked(
          packCall(id, 'tool', nameOf(call), { places: JSON.stringify(streamed), json: jsonOf(call) }),
        );
      }
      return writers;
    },
    settle(bytes) {
      const answer = readAnswer(bytes);
      const settle = waiting.get(answer.id);
      waiting.delete(answer.id);
      settle?.(answer);
    },
  };
}

function streamsOf(answer: PackedAnswer): StreamedBytes[] {
  const places = placesOf(answer);
  return places === undefined ? [] : (parsed(places) as StreamedBytes[]);
}

function readReply(answer: PackedAnswer): CallReply {
  const given = parsed(jsonOf(answer));
  return answer.ok ? { ok: true, value: given } : { ok: false, error: given as CallError };
}

function parsed(json: Uint8Array): unknown {
  return parseBoundedJson(json, { maxBytes: json.length });
}
