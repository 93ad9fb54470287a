import { Duplex } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { SHARED_WINDOW } from '../../src/protocol/channel/byte-stream.ts';
import { CONNECTION_PACE, STREAM_WINDOW } from '../../src/protocol/channel/channel.ts';
import {
  ALL_SHARED,
  createFrameDecoder,
  FLAG_END,
  FRAME_HEADER_BYTES,
  FRAME_KIND,
  MAX_FRAME_PAYLOAD,
  type Frame,
} from '../../src/protocol/channel/frame.ts';
import { duplexPair, openEnd } from './channel-pair.ts';
import { creditBytes, frameBytes } from './frame-bytes.ts';

const HANDED = 256 * 1024;
const TURN = 64 * 1024;

/** A socket that takes one write and then blocks until `release`. */
class StuckSocket extends Duplex {
  readonly written: Buffer[] = [];
  #waiting: (() => void) | undefined;
  #open = false;
  override _read(): void {
    // The test pushes the bytes of the other side.
  }
  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.written.push(Buffer.from(chunk));
    if (this.#open) setImmediate(done);
    else this.#waiting = done;
  }
  release(): void {
    this.#open = true;
    this.#waiting?.();
  }
  frames(): Frame[] {
    const frames: Frame[] = [];
    createFrameDecoder((frame) => void frames.push(frame))(Buffer.concat(this.written));
    return frames;
  }
}

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const drained = async (socket: StuckSocket): Promise<Frame[]> => {
  socket.release();
  while (socket.writableLength > 0) await settled();
  return socket.frames();
};

describe('the writer of a channel', () => {
  it('passes at most 256 KiB and a frame to a blocked socket, for any number of streams', async () => {
    const socket = new StuckSocket();
    const { channel } = openEnd(socket);
    for (let count = 0; count < 64; count += 1) void channel.openStream().write(Buffer.alloc(STREAM_WINDOW));
    await settled();
    expect(socket.writableLength).toBeGreaterThanOrEqual(HANDED);
    expect(socket.writableLength).toBeLessThanOrEqual(HANDED + MAX_FRAME_PAYLOAD + FRAME_HEADER_BYTES);
    expect(channel.backlog).toBe(socket.writableLength);
    socket.destroy();
  });

  it('lets a message overtake the pending bytes of streams', async () => {
    const socket = new StuckSocket();
    const { channel } = openEnd(socket);
    for (let count = 0; count < 64; count += 1) void channel.openStream().write(Buffer.alloc(STREAM_WINDOW));
    await settled();
    channel.send({ overtakes: true });
    const frames = await drained(socket);
    const at = frames.findIndex(({ kind }) => kind === FRAME_KIND.message);
    const before = frames.slice(0, at).reduce((sum, { payload }) => sum + payload.length, 0);
    expect(at).toBeGreaterThan(0);
    expect(before).toBeLessThanOrEqual(HANDED + MAX_FRAME_PAYLOAD);
    expect(frames.reduce((sum, { payload }) => sum + payload.length, 0)).toBeGreaterThan(64 * STREAM_WINDOW);
  });

  it('gives each of eight streams its turn', async () => {
    const socket = new StuckSocket();
    const { channel } = openEnd(socket);
    for (let count = 0; count < 8; count += 1) void channel.openStream().write(Buffer.alloc(STREAM_WINDOW));
    await settled();
    const sent = new Map<number, number>();
    const spread: number[] = [];
    for (const { stream, payload } of await drained(socket)) {
      sent.set(stream, (sent.get(stream) ?? 0) + payload.length);
      const all = Array.from({ length: 8 }, (_, index) => sent.get(index + 1) ?? 0);
      spread.push(Math.max(...all) - Math.min(...all));
    }
    expect([...sent.values()]).toEqual(Array.from({ length: 8 }, () => STREAM_WINDOW));
    // The first stream is alone until the socket is full.
    expect(Math.max(...spread)).toBeLessThanOrEqual(HANDED + TURN);
  });

  it('sends the bytes of all connections within one window, as fast as they arrive, and other streams beside them', async () => {
    const socket = new StuckSocket();
    const { channel } = openEnd(socket);
    const all = 32 * 40_000;
    for (let count = 0; count < 32; count += 1) void channel.openStream(CONNECTION_PACE).write(Buffer.alloc(40_000));
    void channel.openStream().write(Buffer.of(1));
    const sums = (frames: Frame[]): [number, number] => [
      frames.reduce((sum, { stream, payload }) => sum + (stream <= 32 ? payload.length : 0), 0),
      frames.filter(({ stream }) => stream === 33).length,
    ];
    expect(sums(await drained(socket))).toEqual([SHARED_WINDOW, 1]);
    for (let arrived = SHARED_WINDOW; arrived < all; arrived += 10_000) {
      socket.push(creditBytes(ALL_SHARED, 10_000));
      const most = Math.min(arrived + 10_000, all);
      while (sums(socket.frames())[0] < most) await settled();
      await settled();
      expect(sums(socket.frames())).toEqual([most, 1]);
    }
    channel.send({ not: 'delayed' });
    await settled();
    expect(socket.frames().at(-1)?.kind).toBe(FRAME_KIND.message);
  });

  it('sends the last message after all pending bytes of streams, also if they wait for credit', async () => {
    const socket = new StuckSocket();
    const { channel } = openEnd(socket);
    const writer = channel.openStream();
    void writer.write(Buffer.alloc(STREAM_WINDOW + 10)).then(() => writer.end());
    channel.sendLast({ last: true });
    const early = await drained(socket);
    expect(early.some(({ kind }) => kind === FRAME_KIND.message)).toBe(false);
    socket.push(creditBytes(1, 10));
    while (socket.frames().length < early.length + 3) await settled();
    expect(
      socket
        .frames()
        .slice(-3)
        .map(({ kind, flags, payload }) => [kind, flags, payload.length]),
    ).toEqual([
      [FRAME_KIND.data, 0, 10],
      [FRAME_KIND.data, FLAG_END, 0],
      [FRAME_KIND.message, 0, 13],
    ]);
  });

  it('opens and ends 70,000 streams in sequence without keeping any', async () => {
    const [left, right] = duplexPair().map((duplex) => openEnd(duplex)) as [
      ReturnType<typeof openEnd>,
      ReturnType<typeof openEnd>,
    ];
    const before = process.memoryUsage().heapUsed;
    let ended = 0;
    for (let count = 1; count <= 70_000; count += 1) {
      const writer = left.channel.openStream();
      expect(writer.number).toBe(count);
      right.channel.receive(count, { data: () => undefined, end: () => void (ended += 1) });
      await writer.write(Buffer.of(1));
      writer.end();
      if (count % 1_000 === 0) while (ended < count) await settled();
    }
    expect(ended).toBe(70_000);
    expect([left.closings, right.closings]).toEqual([[], []]);
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(64 * 1024 * 1024);
    // Stream numbers are not reused.
    expect(() => right.channel.receive(70_000, { data: () => undefined, end: () => undefined })).toThrow(
      'not a new one',
    );
    left.duplex.push(frameBytes(FRAME_KIND.data, 0, 1, Buffer.of(1)));
    while (left.closings.length === 0) await settled();
    expect(left.closings[0]?.message).toContain('unknown number');
  });
});
