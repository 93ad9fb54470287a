import fc from 'fast-check';
import { Duplex, PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { STREAM_WINDOW, type StreamReader } from '../../src/protocol/channel/channel.ts';
import {
  ALL_SHARED,
  createFrameDecoder,
  FLAG_END,
  FLAG_MORE,
  FRAME_KIND,
  MAX_FRAME_PAYLOAD,
  type Frame,
} from '../../src/protocol/channel/frame.ts';
import { deferred } from '../fixtures/deferred.ts';
import { duplexPair, openEnd, type ChannelEnd } from './channel-pair.ts';
import { creditBytes as credit, frameBytes } from './frame-bytes.ts';
import { until } from '../fixtures/until.ts';

/** A channel whose other side is raw bytes. */
function rawEnd(options: Parameters<typeof openEnd>[1] = {}): { end: ChannelEnd; push(bytes: Uint8Array): void } {
  const duplex = new PassThrough();
  // The channel must not read its own writes.
  duplex.write = () => true;
  const end = openEnd(duplex, options);
  return { end, push: (bytes) => void duplex.push(bytes) };
}

const message = (text: string, flags = 0): Buffer => frameBytes(FRAME_KIND.message, flags, 0, Buffer.from(text));
const data = (stream: number, payload: Uint8Array, flags = 0): Buffer =>
  frameBytes(FRAME_KIND.data, flags, stream, payload);

/** Records the writes of a channel, one entry per system call. */
class CountedWrites extends Duplex {
  readonly writes: Buffer[] = [];
  override _read(): void {
    // The test pushes the bytes of the other side.
  }
  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.writes.push(Buffer.from(chunk));
    done();
  }
  override _writev(chunks: { chunk: Buffer }[], done: () => void): void {
    this.writes.push(Buffer.concat(chunks.map(({ chunk }) => chunk)));
    done();
  }
  frames(): Frame[] {
    const frames: Frame[] = [];
    createFrameDecoder((frame) => void frames.push(frame))(Buffer.concat(this.writes));
    return frames;
  }
  messages(): unknown[] {
    return this.frames().map(({ payload }) => JSON.parse(payload.toString()) as unknown);
  }
}

const STUCK: StreamReader = { data: () => new Promise(() => undefined), end: () => undefined };
const nextTick = (): Promise<void> => new Promise((resolve) => process.nextTick(resolve));
const pause = (milliseconds: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, milliseconds));

describe('a channel', () => {
  it('carries messages of any size both ways, in order', async () => {
    const [left, right] = duplexPair().map((duplex) => openEnd(duplex)) as [ChannelEnd, ChannelEnd];
    const large = { type: 'large', text: 'é'.repeat(700_000) };
    left.channel.send({ first: 1 });
    left.channel.send(large);
    left.channel.send({ last: 1 });
    right.channel.send({ back: true });
    await until(() => right.messages.length === 3 && left.messages.length === 1, 'all messages');
    expect(right.messages).toEqual([{ first: 1 }, large, { last: 1 }]);
    expect(left.messages).toEqual([{ back: true }]);
  });

  it('carries parallel streams completely and separately', async () => {
    const [left, right] = duplexPair().map((duplex) => openEnd(duplex)) as [ChannelEnd, ChannelEnd];
    const sizes = [0, 1, MAX_FRAME_PAYLOAD + 1, 3 * STREAM_WINDOW + 17];
    right.keep(...sizes.map((_size, index) => index + 1));
    await Promise.all(
      sizes.map(async (size, stream) => {
        const writer = left.channel.openStream();
        expect(writer.number).toBe(stream + 1);
        await writer.write(Buffer.alloc(size, stream));
        writer.end();
      }),
    );
    await until(() => right.ended.size === sizes.length, 'the end of all streams');
    for (const [stream, size] of sizes.entries()) {
      const bytes = Buffer.concat(right.received.get(stream + 1) ?? []);
      expect(bytes.equals(Buffer.alloc(size, stream))).toBe(true);
    }
    expect(right.closings).toEqual([]);
  });

  it('makes a sender wait for a slow reader, so that neither side holds more than the window', async () => {
    const gates: (() => void)[] = [];
    let taken = 0;
    const slow: StreamReader = {
      data(chunk) {
        taken += chunk.length;
        const gate = deferred<void>();
        gates.push(() => gate.resolve(undefined));
        return gate.promise;
      },
      end: () => undefined,
    };
    const [leftDuplex, rightDuplex] = duplexPair();
    const left = openEnd(leftDuplex);
    openEnd(rightDuplex).channel.receive(1, slow);
    const writer = left.channel.openStream();
    let written = 0;
    const sending = (async () => {
      for (let round = 0; round < 64; round += 1) {
        await writer.write(Buffer.alloc(MAX_FRAME_PAYLOAD));
        written += MAX_FRAME_PAYLOAD;
      }
    })();
    await until(() => taken === STREAM_WINDOW, 'a full window');
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(taken).toBe(STREAM_WINDOW);
    expect(written).toBe(STREAM_WINDOW);
    expect(left.channel.backlog).toBeLessThanOrEqual(STREAM_WINDOW);

    const before = taken;
    while (taken === before) {
      gates.shift()?.();
      await nextTick();
    }
    await until(() => taken === STREAM_WINDOW + STREAM_WINDOW / 4, 'as much more as was taken');
    const opened = setInterval(() => gates.splice(0).forEach((open) => open()), 1);
    await sending;
    clearInterval(opened);
    expect(written).toBe(64 * MAX_FRAME_PAYLOAD);
  });

  describe('an event', () => {
    it('waits, and arrives alone after some milliseconds', async () => {
      const duplex = new CountedWrites();
      const { channel } = openEnd(duplex);
      channel.sendEvent({ event: 1 });
      // No timer can fire before these.
      await nextTick();
      expect(duplex.writes).toEqual([]);
      await until(() => duplex.writes.length > 0, 'the event', 2_000);
      expect(duplex.messages()).toEqual([{ event: 1 }]);
      channel.sendEvent({ event: 2 });
      await until(() => duplex.writes.length > 1, 'a second event', 2_000);
      expect(duplex.messages()).toEqual([{ event: 1 }, { event: 2 }]);
    });

    it('leaves in order and in one write with the next message, which does not wait', async () => {
      const duplex = new CountedWrites();
      const { channel } = openEnd(duplex);
      channel.sendEvent({ event: 1 });
      channel.sendEvent({ event: 2 });
      await nextTick();
      expect(duplex.writes).toEqual([]);
      channel.send({ message: 3 });
      await nextTick();
      expect(duplex.writes).toHaveLength(1);
      expect(duplex.messages()).toEqual([{ event: 1 }, { event: 2 }, { message: 3 }]);
      await pause(25);
      expect(duplex.writes).toHaveLength(1);
    });

    it('leaves with a message that was sent before it in the same tick', async () => {
      const duplex = new CountedWrites();
      const { channel } = openEnd(duplex);
      channel.send({ message: 1 });
      channel.sendEvent({ event: 2 });
      await nextTick();
      expect(duplex.writes).toHaveLength(1);
      expect(duplex.messages()).toEqual([{ message: 1 }, { event: 2 }]);
    });

    it('is sent, not lost, when the channel is closed while it waits', async () => {
      const duplex = new CountedWrites();
      const { channel, closings } = openEnd(duplex);
      channel.sendEvent({ event: 1 });
      channel.close();
      expect(duplex.messages()).toEqual([{ event: 1 }]);
      expect(closings).toEqual([undefined]);
      channel.sendEvent({ event: 2 });
      await pause(25);
      expect(duplex.messages()).toEqual([{ event: 1 }]);
    });
  });

  it('grants credit in steps of a quarter of the window', async () => {
    const duplex = new CountedWrites();
    openEnd(duplex).keep(1);
    const granted = (): number[] =>
      duplex.frames().map((frame) => {
        expect(frame).toMatchObject({ kind: FRAME_KIND.credit, stream: 1 });
        return frame.payload.readUInt32LE(0);
      });
    const quarter = STREAM_WINDOW / 4;
    const piece = Buffer.alloc(quarter / 4);
    for (let round = 1; round <= 12; round += 1) {
      duplex.push(data(1, piece));
      await pause(1);
      expect(granted()).toEqual(Array.from({ length: Math.floor(round / 4) }, () => quarter));
    }
    // The bytes above a quarter are granted with it.
    duplex.push(data(1, Buffer.alloc(quarter - 1)));
    await pause(1);
    expect(granted()).toHaveLength(3);
    duplex.push(data(1, Buffer.alloc(100)));
    await until(() => granted().length === 4, 'the fourth credit');
    expect(granted().at(-1)).toBe(quarter + 99);
    // And only once.
    duplex.push(data(1, Buffer.alloc(quarter - 50)));
    await pause(1);
    expect(granted()).toHaveLength(4);
  });

  it.each([1, 997, 65_536, MAX_FRAME_PAYLOAD - 1, STREAM_WINDOW + 1])(
    'carries eight windows to a slow reader, in pieces of %i and less',
    async (size) => {
      const total = 8 * STREAM_WINDOW;
      let taken = 0;
      let ended = false;
      const slow: StreamReader = {
        async data(chunk) {
          await new Promise((resolve) => setTimeout(resolve, 1));
          taken += chunk.length;
        },
        end: () => void (ended = true),
      };
      const [left, right] = duplexPair();
      const sender = openEnd(left);
      const receiver = openEnd(right);
      receiver.channel.receive(1, slow);
      const writer = sender.channel.openStream();
      // One small piece makes all later offsets uneven.
      await writer.write(Buffer.alloc(size));
      const step = Math.max(size, 997);
      for (let sent = size; sent < total;) {
        const part = Math.min(step, total - sent);
        await writer.write(Buffer.alloc(part));
        sent += part;
      }
      writer.end();
      await until(() => ended && taken === total, 'the whole stream');
      expect([sender.closings, receiver.closings]).toEqual([[], []]);
    },
  );

  it('resolves a waiting write when the channel ends', async () => {
    const [leftDuplex, rightDuplex] = duplexPair();
    const left = openEnd(leftDuplex);
    openEnd(rightDuplex).channel.receive(1, STUCK);
    const writing = left.channel.openStream().write(Buffer.alloc(2 * STREAM_WINDOW));
    rightDuplex.destroy();
    await writing;
    expect(left.closings).toEqual([undefined]);
  });

  it('closes once, without an error, when the other side ends, and ignores later messages', async () => {
    const [left, right] = duplexPair().map((duplex) => openEnd(duplex)) as [ChannelEnd, ChannelEnd];
    right.channel.close();
    await until(() => left.closings.length > 0, 'the end');
    left.channel.send({ late: true });
    left.channel.close();
    expect(left.closings).toEqual([undefined]);
    expect(right.closings).toEqual([undefined]);
    expect(left.duplex.destroyed).toBe(true);
  });

  it('joins the writes of one tick and the writes that follow at once', async () => {
    const writes: number[] = [];
    const duplex = new PassThrough();
    const end = openEnd(duplex);
    end.keep(1);
    duplex.cork = () => void writes.push(1);
    duplex.uncork = () => void writes.push(-1);
    end.channel.send({ a: 1 });
    const stream = end.channel.openStream();
    const written = stream.write(Buffer.from('a')).then(() => stream.end());
    expect(writes).toEqual([1]);
    await new Promise((resolve) => setImmediate(resolve));
    await written;
    expect(writes).toEqual([1, -1]);
    end.channel.send({ a: 2 });
    end.channel.close();
    expect(writes).toEqual([1, -1, 1, -1]);
  });

  describe('against a hostile other side', () => {
    /** Pushes bytes and returns the error that ended the channel. */
    async function endedBy(...chunks: Uint8Array[]): Promise<{ error: Error | undefined; end: ChannelEnd }> {
      const { end, push } = rawEnd();
      end.keep(1);
      for (const chunk of chunks) push(chunk);
      await until(() => end.closings.length > 0, 'the end of the channel');
      expect(end.closings).toHaveLength(1);
      expect(end.duplex.destroyed).toBe(true);
      return { error: end.closings[0], end };
    }

    it('closes and never throws for any bytes', async () => {
      const structured = fc.oneof(
        fc.string().map((text) => message(text)),
        fc.jsonValue().map((value) => message(JSON.stringify(value))),
        fc.record({ stream: fc.nat(4), size: fc.nat(600) }).map(({ stream, size }) => data(stream, Buffer.alloc(size))),
        fc.tuple(fc.nat(4), fc.nat(0xffff_ffff)).map(([stream, amount]) => credit(stream, amount)),
        fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes)),
      );
      await fc.assert(
        fc.asyncProperty(fc.array(structured, { maxLength: 20 }), fc.nat(50), async (chunks, stride) => {
          const { end, push } = rawEnd();
          const bytes = Buffer.concat(chunks);
          for (let at = 0; at < bytes.length; at += stride + 1) push(bytes.subarray(at, at + stride + 1));
          await new Promise((resolve) => setImmediate(resolve));
          expect(end.closings.length).toBeLessThanOrEqual(1);
          end.duplex.destroy();
        }),
      );
    });

    it('E01 a header that claims 4 GiB ends the channel at once', async () => {
      const { error } = await endedBy(frameBytes(FRAME_KIND.data, 0, 1, Buffer.alloc(0), 0xffff_ffff));
      expect(error?.message).toContain('4294967295');
    });

    it('E01 a message of endless parts ends the channel at its cap', async () => {
      const { end, push } = rawEnd({ maxMessageBytes: 4 * MAX_FRAME_PAYLOAD });
      const part = message('x'.repeat(MAX_FRAME_PAYLOAD), FLAG_MORE);
      for (let round = 0; round < 6; round += 1) push(part);
      await until(() => end.closings.length > 0, 'the end of the channel');
      expect(end.closings[0]?.message).toContain('over 1048576 bytes');
    });

    it('E01 a message of tiny parts ends the channel at the first one', async () => {
      for (const text of ['', 'x', 'x'.repeat(MAX_FRAME_PAYLOAD - 1)]) {
        const { error } = await endedBy(message(text, FLAG_MORE));
        expect(error?.message).toContain('not full');
      }
    });

    it.each([
      ['half JSON', '{"type":"ready"'],
      ['no JSON', 'hello'],
      ['nothing', ''],
      ['a byte order mark', '\ufeff{}'],
      ['E03 a prototype key', '{"__proto__":{"a":1}}'],
      ['E03 an escaped prototype key', '{"\\u005f\\u005fproto__":{"a":1}}'],
      ['E09 a depth of 100,000', '['.repeat(100_000)],
    ])('E02 a message of %s ends the channel', async (_name, text) => {
      const { error, end } = await endedBy(message(text));
      expect(error).toBeInstanceOf(Error);
      expect(end.messages).toEqual([]);
    });

    it('E05 a stream with an unknown number, or an ended stream, ends the channel', async () => {
      expect((await endedBy(data(7, Buffer.of(1)))).error?.message).toContain('got 7');
      const { error } = await endedBy(data(1, Buffer.of(1), FLAG_END), data(1, Buffer.of(2)));
      expect(error?.message).toContain('got 1');
    });

    it('a sender that ignores its window ends the channel', async () => {
      const { end, push } = rawEnd();
      end.channel.receive(1, STUCK);
      for (let sent = 0; sent <= STREAM_WINDOW; sent += MAX_FRAME_PAYLOAD)
        push(data(1, Buffer.alloc(MAX_FRAME_PAYLOAD)));
      await until(() => end.closings.length > 0, 'the end of the channel');
      expect(end.closings[0]?.message).toContain('ignores its window');
    });

    it('a stream number that is not higher than all before is refused', () => {
      const { end } = rawEnd();
      end.keep(3);
      for (const stream of [3, 2]) expect(() => end.keep(stream)).toThrow(/no new|not a new/);
    });

    it('unused credit, credit of a wrong size or for an unknown stream ends the channel; for an ended stream it is ignored', async () => {
      expect((await endedBy(credit(9, 1))).error?.message).toContain('got 9');
      expect((await endedBy(credit(ALL_SHARED, 1))).error?.message).toContain('more than was sent');
      const { end, push } = rawEnd();
      end.channel.openStream().end();
      end.channel.openStream();
      await nextTick();
      push(credit(1, 0xffff_ffff));
      push(message('{"still":"open"}'));
      await until(() => end.messages.length > 0, 'a message');
      push(credit(2, 1));
      await until(() => end.closings.length > 0, 'the end of the channel');
      expect(end.closings[0]?.message).toContain('more than was sent');
      expect((await endedBy(frameBytes(FRAME_KIND.credit, 0, 1, Buffer.alloc(3)))).error?.message).toContain('4 bytes');
    });

    it('an error of a handler, thrown at once or later, ends the channel and is not rethrown', async () => {
      const thrown = new Error('refused by its reader');
      const readers: StreamReader['data'][] = [
        () => {
          throw thrown;
        },
        () => Promise.reject(thrown),
      ];
      for (const read of readers) {
        const { end, push } = rawEnd();
        end.channel.receive(1, { data: read, end: () => undefined });
        push(data(1, Buffer.of(1)));
        await until(() => end.closings.length > 0, 'the end of the channel');
        expect(end.closings).toEqual([thrown]);
      }
    });

    it('M1 4,000 frames of one byte in one chunk arrive one by one', async () => {
      const { end, push } = rawEnd();
      end.keep(1);
      push(Buffer.concat(Array.from({ length: 4_000 }, (_, index) => data(1, Buffer.of(index & 255)))));
      await until(() => (end.received.get(1)?.length ?? 0) === 4_000, '4,000 frames');
      expect(end.closings).toEqual([]);
    });

    it('drops the rest of the chunk in which it closed', async () => {
      const { error, end } = await endedBy(Buffer.concat([message('{"a":1}'), message('{'), message('{"b":1}')]));
      expect(error).toBeInstanceOf(Error);
      expect(end.messages).toEqual([{ a: 1 }]);
    });

    it('drops the rest of the chunk after a handler closed it', async () => {
      const messages: unknown[] = [];
      const { end, push } = rawEnd({
        onMessage(taken) {
          messages.push(taken);
          end.channel.close();
        },
      });
      push(Buffer.concat([message('{"a":1}'), message('{"b":1}')]));
      await until(() => end.closings.length > 0, 'the end of the channel');
      expect(messages).toEqual([{ a: 1 }]);
    });
  });
});
