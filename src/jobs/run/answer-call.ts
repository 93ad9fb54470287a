import type { Broker } from '../../tools/calls/broker.ts';
import type { BrokerCall, BrokerReply, IncomingBytes } from '../../tools/calls/broker-call.ts';
import { TOOL_VALUE_BYTES } from '../../tools/define/tool.ts';
import { addPiece } from '../../protocol/channel/add-piece.ts';
import { JsonRefused, parseBoundedJson } from '../../protocol/channel/bounded-json.ts';
import type { Channel, StreamReader } from '../../protocol/channel/channel.ts';
import type { SandboxCall, StreamedBytes } from '../../protocol/messages/messages.ts';
import { packAnswer } from '../../protocol/channel/packed-call.ts';
import type { Limiter } from '../../protocol/limiter.ts';

/** Maximum bytes of arguments under way from one sandbox; a correct sandbox stays below. */
const MAX_ARRIVING_BYTES = 40 * 1024 * 1024;

/** Shared state of the answers to the calls of one job. */
export interface CallTraffic {
  channel: Channel;
  broker: Broker;
  /** Limits the bytes of results under way. */
  results: Limiter;
  /** Bytes of arguments of calls without an answer yet. */
  arriving: { bytes: number };
}

/**
 * Makes a call for the sandbox, and sends the answer.
 *
 * @throws Error, before it makes the call, when the sandbox breaks the protocol
 */
export function answerCall(traffic: CallTraffic, call: SandboxCall, signal: AbortSignal): Promise<void> {
  const { channel, broker, arriving } = traffic;
  const { id, target, name, json, places } = call;
  const total = places.reduce((sum, { bytes }) => sum + bytes, 0);
  arriving.bytes += total;
  if (total > TOOL_VALUE_BYTES || arriving.bytes > MAX_ARRIVING_BYTES)
    throw new Error(`a call with more bytes than a program may send, got ${total}`);
  const bytes = places.length === 0 ? undefined : receiveBytes(channel, places);
  const answer = async (): Promise<void> => {
    const reply = await broker.call({ id, target, name, ...argumentsOf(json) }, { signal, bytes });
    bytes?.drop();
    arriving.bytes -= total;
    await sendReply(traffic, id, reply);
  };
  return answer();
}

/** Malformed JSON fails the call, but does not break the protocol: the sandbox passes the text on without parsing it. */
function argumentsOf(json: Uint8Array): Pick<BrokerCall, 'args' | 'fault'> {
  if (json.length === 0) return { args: undefined };
  try {
    return { args: parseBoundedJson(json, { maxBytes: json.length }) };
  } catch (error) {
    if (!(error instanceof JsonRefused)) throw error;
    return { args: undefined, fault: error.message };
  }
}

/** Receives the bytes of a call. Bytes that arrive after `drop` are not kept. */
function receiveBytes(channel: Channel, places: readonly StreamedBytes[]): IncomingBytes & { drop(): void } {
  const collected = places.map(({ stream, bytes }) => {
    const part = collect(bytes);
    channel.receive(stream, part.reader);
    return part;
  });
  return {
    places: places.map(({ path, bytes }) => ({ path, bytes })),
    parts: Promise.all(collected.map(({ done }) => done)),
    drop: () => collected.forEach((part) => part.drop()),
  };
}

/** Collects a stream of a known size. */
function collect(size: number): { reader: StreamReader; done: Promise<Uint8Array>; drop(): void } {
  const { promise: done, resolve, reject } = Promise.withResolvers<Uint8Array>();
  done.catch(() => undefined);
  let chunks: Buffer[] = [];
  let received = 0;
  let dropped = false;
  const reader: StreamReader = {
    data(chunk) {
      received += chunk.length;
      if (received > size) throw new Error(`more than the announced ${size} bytes of a call`);
      if (!dropped) addPiece(chunks, chunk);
    },
    end() {
      if (received === size && !dropped) resolve(Buffer.concat(chunks));
      else reject(new Error('The bytes of a call ended early.'));
      chunks = [];
    },
  };
  const drop = (): void => {
    dropped = true;
    chunks = [];
  };
  return { reader, done, drop };
}

async function sendReply({ channel, results }: CallTraffic, id: number, reply: BrokerReply): Promise<void> {
  if (!reply.ok || reply.parts === undefined || reply.places === undefined) {
    const json = JSON.stringify(reply.ok ? reply.value : reply.error);
    return channel.sendPacked(packAnswer(id, reply.ok, { json }));
  }
  const { value, places, parts, sent } = reply;
  const release = await results.enter({ weight: parts.reduce((sum, part) => sum + part.length, 0) });
  try {
    const writers = parts.map(() => channel.openStream());
    const bytes = places.map((place, index) => ({ ...place, stream: writers[index]?.number ?? 0 }));
    channel.sendPacked(packAnswer(id, true, { places: JSON.stringify(bytes), json: JSON.stringify(value) }));
    await Promise.all(
      writers.map(async (writer, index) => {
        await writer.write(parts[index] ?? new Uint8Array());
        writer.end();
      }),
    );
  } finally {
    release?.();
    sent?.();
  }
}
