import { STREAM_WINDOW, type StreamReader } from './byte-stream.ts';
import { FLAG_END, FRAME_KIND, FrameError, type Frame } from './frame.ts';
import type { FrameWriter } from './frame-writer.ts';

/** Bytes that a reader gives back at once: a credit for each small piece would wake the other side as often. */
const GRANTED_BYTES = STREAM_WINDOW / 4;

interface Incoming {
  reader: StreamReader;
  /** Bytes that the sender may still send. */
  window: number;
  /** Bytes that were taken and not yet given back. */
  owed: number;
}

/** Options of {@link createReceivedStreams}. */
export interface ReceivedStreamsOptions {
  /** The reader of a stream that the other side starts; `undefined` refuses it. */
  onStream(stream: number): StreamReader | undefined;
  /** Told when a reader could not take its bytes. */
  onFault(error: unknown): void;
}

/**
 * Creates the incoming streams of one channel: each is read once, within its window.
 *
 * @returns takes one frame of data, and throws a {@link FrameError} at one that no sender who keeps the protocol sends
 */
export function createReceivedStreams(frames: FrameWriter, options: ReceivedStreamsOptions): (frame: Frame) => void {
  const incoming = new Map<number, Incoming>();
  const finished = new Set<number>();

  const entryOf = (stream: number): Incoming => {
    const known = incoming.get(stream);
    if (known !== undefined) return known;
    const reader = finished.has(stream) ? undefined : options.onStream(stream);
    if (reader === undefined) throw new FrameError(`Cannot take a stream: unknown number, got ${stream}.`);
    const entry = { reader, window: STREAM_WINDOW, owed: 0 };
    incoming.set(stream, entry);
    return entry;
  };

  const grant = (stream: number, entry: Incoming, amount: number): void => {
    if (finished.has(stream)) return;
    entry.owed += amount;
    if (entry.owed < GRANTED_BYTES) return;
    const payload = Buffer.allocUnsafe(4);
    payload.writeUInt32LE(entry.owed, 0);
    entry.window += entry.owed;
    entry.owed = 0;
    frames.write(FRAME_KIND.credit, 0, stream, payload);
  };

  return ({ stream, payload, flags }) => {
    const entry = entryOf(stream);
    const size = payload.length;
    if (size > entry.window) throw new FrameError('Cannot take a stream: the sender ignores its window.');
    entry.window -= size;
    if (size > 0) {
      const taken = entry.reader.data(payload);
      if (taken === undefined) grant(stream, entry, size);
      else taken.then(() => grant(stream, entry, size), options.onFault);
    }
    if ((flags & FLAG_END) !== 0) {
      incoming.delete(stream);
      finished.add(stream);
      entry.reader.end();
    }
  };
}
