import { Duplex } from 'node:stream';
import {
  createChannel,
  type Channel,
  type ChannelOptions,
  type StreamReader,
} from '../../src/protocol/channel/channel.ts';

/** One end of a channel under test, with its received data. */
export interface ChannelEnd {
  channel: Channel;
  duplex: Duplex;
  messages: unknown[];
  /** Bytes by stream number, in order of arrival. */
  received: Map<number, Buffer[]>;
  ended: Set<number>;
  /** Arguments of `onClose`, one entry per call. */
  closings: (Error | undefined)[];
  /** Expects streams, and keeps their bytes. */
  keep(...streams: number[]): void;
}

/** Two connected streams with backpressure: each reads the writes of the other. */
export function duplexPair(): [Duplex, Duplex] {
  const waiting: (() => void)[] = [];
  const sides: Duplex[] = [0, 1].map(
    (side) =>
      new Duplex({
        read() {
          const resume = waiting[side];
          waiting[side] = () => undefined;
          resume?.();
        },
        write(chunk: Buffer, _encoding, done) {
          const other = sides[1 - side] as Duplex;
          if (other.destroyed || other.push(chunk)) done();
          else waiting[1 - side] = done;
        },
        final(done) {
          sides[1 - side]?.push(null);
          done();
        },
        destroy(error, done) {
          const other = sides[1 - side];
          if (other !== undefined && !other.destroyed && !other.readableEnded) setImmediate(() => other.push(null));
          done(error);
        },
      }),
  );
  return [sides[0] as Duplex, sides[1] as Duplex];
}

/** Opens a channel over a duplex. Messages and errors are recorded unless the options override the handlers. */
export function openEnd(duplex: Duplex, options: Partial<ChannelOptions> = {}): ChannelEnd {
  const end: Omit<ChannelEnd, 'channel' | 'keep'> = {
    duplex,
    messages: [],
    received: new Map(),
    ended: new Set(),
    closings: [],
  };
  const reader = (stream: number): StreamReader => ({
    data: (chunk) => {
      end.received.set(stream, [...(end.received.get(stream) ?? []), Buffer.from(chunk)]);
    },
    end: () => void end.ended.add(stream),
  });
  const channel = createChannel(duplex, {
    onMessage: (message) => void end.messages.push(message),
    onClose: (error) => void end.closings.push(error),
    ...options,
  });
  const keep = (...streams: number[]): void => streams.forEach((stream) => channel.receive(stream, reader(stream)));
  return { ...end, channel, keep };
}
