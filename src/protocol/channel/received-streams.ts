import { SHARED_WINDOW, STREAM_PACE, type StreamPace, type StreamReader } from './byte-stream.ts';
import { ALL_SHARED, FLAG_END, FRAME_KIND, FrameError, type Frame } from './frame.ts';
import type { FrameWriter } from './frame-writer.ts';

/** Credit is granted in steps of this part of the window: a grant for each small chunk would wake the other side each time. */
const GRANTED_PART = 1 / 4;

interface Incoming {
  reader: StreamReader;
  shared: boolean;
  /** Bytes that the sender may still send. */
  window: number;
  /** Least bytes of a grant. */
  step: number;
  /** Bytes that were read and not yet granted again. */
  owed: number;
  ended: boolean;
}

/** The streams that the other side sends. */
export interface ReceivedStreams {
  /**
   * Expects a stream that the other side has announced.
   *
   * @throws {FrameError} if the number is not higher than all before: each is used once
   */
  expect(stream: number, reader: StreamReader, pace?: StreamPace): void;
  /** Takes one data frame. Throws a {@link FrameError} if it violates the protocol. */
  take(frame: Frame): void;
}

/**
 * Creates the incoming streams of one channel. Each stream is read once, within its window.
 *
 * @param onFault called when a reader fails
 */
export function createReceivedStreams(frames: FrameWriter, onFault: (error: unknown) => void): ReceivedStreams {
  const incoming = new Map<number, Incoming>();
  let highest = 0;
  /** Bytes of shared streams that have arrived and were not yet granted again. */
  let sharedOwed = 0;

  const grant = (stream: number, entry: Incoming, amount: number): void => {
    if (entry.ended) return;
    entry.owed += amount;
    if (entry.owed < entry.step) return;
    credit(stream, entry.owed);
    entry.window += entry.owed;
    entry.owed = 0;
  };
  const credit = (stream: number, bytes: number): void => {
    const payload = Buffer.allocUnsafe(4);
    payload.writeUInt32LE(bytes, 0);
    frames.control(FRAME_KIND.credit, 0, stream, payload);
  };
  const arrived = (bytes: number): void => {
    sharedOwed += bytes;
    if (sharedOwed < SHARED_WINDOW * GRANTED_PART) return;
    credit(ALL_SHARED, sharedOwed);
    sharedOwed = 0;
  };

  return {
    expect(stream, reader, { window, shared } = STREAM_PACE) {
      if (stream <= highest)
        throw new FrameError(`Cannot expect a stream: its number is not a new one, got ${stream}.`);
      highest = stream;
      incoming.set(stream, { reader, shared, window, step: window * GRANTED_PART, owed: 0, ended: false });
    },
    take({ stream, payload, flags }) {
      const entry = incoming.get(stream);
      if (entry === undefined) throw new FrameError(`Cannot take a stream: unknown number, got ${stream}.`);
      const size = payload.length;
      if (size > entry.window) throw new FrameError('Cannot take a stream: the sender ignores its window.');
      entry.window -= size;
      if (entry.shared) arrived(size);
      if (size > 0) {
        const taken = entry.reader.data(payload);
        if (taken === undefined) grant(stream, entry, size);
        else taken.then(() => grant(stream, entry, size), onFault);
      }
      if ((flags & FLAG_END) !== 0) {
        incoming.delete(stream);
        entry.ended = true;
        entry.reader.end();
      }
    },
  };
}
