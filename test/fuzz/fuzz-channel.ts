import assert from 'node:assert/strict';
import { Duplex } from 'node:stream';
import * as z from 'zod/mini';
import { CONNECTION_PACE, createChannel, type Channel, type StreamReader } from '../../src/protocol/channel/channel.ts';
import { createFrameDecoder, type Frame } from '../../src/protocol/channel/frame.ts';
import { readSandboxCall, sandboxMessageSchema } from '../../src/protocol/messages/message-schema.ts';
import { packCall } from '../../src/protocol/channel/packed-call.ts';
import type { SandboxMessage } from '../../src/protocol/messages/messages.ts';
import type { SeededRandom } from '../chaos/seeded-random.ts';
import { duplexPair, openEnd } from '../protocol/channel-pair.ts';
import { frameBytes } from '../protocol/frame-bytes.ts';
import { assertNotPolluted, inPieces, mutated, settled, someBytes, someValue } from './fuzz-parts.ts';

/** The channel: valid messages arrive whole and once, and an invalid message ends the channel once. */
export async function fuzzChannel(random: SeededRandom): Promise<void> {
  if (random.between(0, 2) === 0) return talk(random);
  const { bytes, sent } = await recorded(random);
  const isChanged = random.between(0, 2) > 0;
  await listen(random, isChanged ? changed(random, bytes) : bytes, isChanged ? undefined : sent);
  assertNotPolluted();
}

/** Bytes of streams, by number. */
type Streams = Map<number, Buffer>;

/** Both ends send at once, and their readers are slow. */
async function talk(random: SeededRandom): Promise<void> {
  const ends = duplexPair().map((duplex) => openEnd(duplex));
  const slowness = random.pick([0, 0, 3]);
  const arrived: Map<number, Buffer[]>[] = [new Map(), new Map()];
  let over = 0;
  let expected = 0;
  const sending = ends.map(async ({ channel }, side) => {
    const other = ends[1 - side]?.channel;
    const sent: Streams = new Map();
    await Promise.all(
      Array.from({ length: random.between(1, 8) }, async () => {
        expected += 1;
        const pace = random.pick([undefined, CONNECTION_PACE]);
        const writer = channel.openStream(pace);
        const chunks: Buffer[] = [];
        const reader: StreamReader = {
          data(chunk) {
            arrived[side]?.set(writer.number, [...(arrived[side].get(writer.number) ?? []), Buffer.from(chunk)]);
            return slowness === 0 ? undefined : settled(slowness);
          },
          end: () => void (over += 1),
        };
        other?.receive(writer.number, reader, pace);
        for (let round = random.between(0, 4); round > 0; round -= 1) {
          const chunk = someBytes(random, random.pick([0, 1, 1_000, 70_000, 300_000]));
          chunks.push(chunk);
          await writer.write(chunk);
          if (random.between(0, 3) === 0) channel.send({ after: writer.number });
        }
        writer.end();
        sent.set(writer.number, Buffer.concat(chunks));
      }),
    );
    return sent;
  });
  const sent = await Promise.all(sending);
  while (over < expected) await settled();
  sent.forEach((streams, side) => {
    for (const [number, bytes] of streams)
      assert.ok(Buffer.concat(arrived[side]?.get(number) ?? []).equals(bytes), `stream ${number} arrived otherwise`);
  });
  assert.deepEqual(
    ends.map(({ closings }) => closings),
    [[], []],
  );
  for (const { channel } of ends) channel.close();
}

/** A side that only listens. It grants as much as the sender needs. */
class Recorder extends Duplex {
  readonly chunks: Buffer[] = [];
  override _read(): void {
    // The sender gets only the pushed bytes.
  }
  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.chunks.push(Buffer.from(chunk));
    done();
  }
}

/** Records the messages of a sandbox in a job. */
async function recorded(random: SeededRandom): Promise<{ bytes: Buffer; sent: Streams }> {
  const duplex = new Recorder();
  const channel = createChannel(duplex, { onMessage: () => undefined, onClose: () => undefined });
  const sent: Streams = new Map();
  const send = (message: SandboxMessage): void => channel.send(message);
  send({ type: 'ready', protocol: 5 });
  const write = async (count: number, announce: (numbers: number[]) => void): Promise<void> => {
    const writers = Array.from({ length: count }, () => channel.openStream());
    announce(writers.map(({ number }) => number));
    await Promise.all(
      writers.map(async (writer) => {
        const bytes = someBytes(random, random.pick([0, 1, 500, 3_000, 200_000]));
        sent.set(writer.number, bytes);
        await writer.write(bytes);
        writer.end();
      }),
    );
  };
  const steps = random.between(1, 6);
  for (let id = 1; id <= steps; id += 1) {
    const kind = random.between(0, 2);
    if (kind === 0) await write(2, ([stdout = 0, stderr = 0]) => send({ type: 'run', run: id, stdout, stderr }));
    else if (kind === 1) await write(1, ([stream = 0]) => send({ type: 'artifacts', stream }));
    else {
      const args = someValue(random);
      await write(random.between(0, 3), (numbers) =>
        channel.sendPacked(
          packCall(id, 'tool', 'echo', {
            places: JSON.stringify(numbers.map((stream) => ({ path: ['a', 0], bytes: 1, stream }))),
            json: JSON.stringify(args),
          }),
        ),
      );
    }
  }
  await settled();
  channel.close();
  return { bytes: Buffer.concat(duplex.chunks), sent };
}

/** A recording with swapped frames or changed bytes. */
function changed(random: SeededRandom, bytes: Buffer): Buffer {
  if (random.between(0, 1) === 0) return mutated(random, bytes);
  const frames: Frame[] = [];
  createFrameDecoder((frame) => void frames.push(frame))(bytes);
  for (let round = random.between(1, 4); round > 0; round -= 1) {
    const at = random.between(0, frames.length - 1);
    const [frame] = frames.splice(at, 1);
    if (frame === undefined) break;
    const kind = random.between(0, 4);
    if (kind === 1) frames.splice(at, 0, frame, frame);
    if (kind === 2) frames.splice(random.between(0, frames.length), 0, frame);
    if (kind === 3) frames.splice(at, 0, { ...frame, stream: random.pick([0, 1, 2, 9, 2 ** 32 - 1]) });
    if (kind === 4) frames.splice(at, 0, { ...frame, kind: random.between(0, 4), flags: random.between(0, 4) });
    if (frames.length === 0) break;
  }
  return Buffer.concat(frames.map(({ kind, flags, stream, payload }) => frameBytes(kind, flags, stream, payload)));
}

/** A host reads a recording. If `sent` is undefined, any of its bytes may be a lie. */
async function listen(random: SeededRandom, bytes: Buffer, sent: Streams | undefined): Promise<void> {
  const duplex = new Recorder();
  const arrived = new Map<number, Buffer[]>();
  const ended = new Set<number>();
  const closings: (Error | undefined)[] = [];
  let messages = 0;
  const reader = (stream: number): StreamReader => {
    arrived.set(stream, []);
    return {
      data(chunk) {
        assert.ok(closings.length === 0 && !ended.has(stream), 'bytes after the end');
        arrived.get(stream)?.push(Buffer.from(chunk));
      },
      end: () => void ended.add(stream),
    };
  };
  const channel: Channel = createChannel(duplex, {
    onMessage(given) {
      assert.deepEqual(closings, [], 'a message after the end');
      messages += 1;
      const message = z.parse(sandboxMessageSchema, given);
      for (const stream of namedStreams(message)) channel.receive(stream, reader(stream));
    },
    onPacked(packed) {
      assert.deepEqual(closings, [], 'a call after the end');
      messages += 1;
      for (const { stream } of readSandboxCall(packed).places) channel.receive(stream, reader(stream));
    },
    onClose: (error) => void closings.push(error),
  });
  for (const piece of inPieces(random, bytes)) duplex.push(piece);
  await settled(2);
  assert.ok(closings.length <= 1, 'it has ended twice');
  if (sent !== undefined) {
    while (closings.length === 0 && ended.size < sent.size) await settled();
    assert.deepEqual(closings, []);
    assert.ok(messages > 0);
    for (const [stream, whole] of sent)
      assert.ok(Buffer.concat(arrived.get(stream) ?? []).equals(whole), `stream ${stream} arrived otherwise`);
  }
  channel.close();
  assert.equal(closings.length, 1);
}

function namedStreams(message: SandboxMessage): number[] {
  if (message.type === 'run') return [message.stdout, message.stderr];
  return message.type === 'artifacts' ? [message.stream] : [];
}
