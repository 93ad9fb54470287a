import type { Duplex } from 'node:stream';
import { parseBoundedJson } from './bounded-json.ts';
import type { StreamPace, StreamReader, StreamWriter } from './byte-stream.ts';
import { createFrameDecoder, FLAG_MORE, type Frame, FRAME_KIND, FrameError, MAX_FRAME_PAYLOAD } from './frame.ts';
import { createFrameWriter, type FrameWriter, type Urgency } from './frame-writer.ts';
import { isPacked } from './packed-call.ts';
import { createReceivedStreams } from './received-streams.ts';
import { createSentStreams } from './sent-streams.ts';

/** A text of this many UTF-16 units always fits into one frame. */
const ONE_FRAME_CHARACTERS = Math.floor(MAX_FRAME_PAYLOAD / 3);

export {
  CONNECTION_PACE,
  STREAM_WINDOW,
  type ByteWriter,
  type StreamReader,
  type StreamWriter,
} from './byte-stream.ts';

/** Options of {@link createChannel}. */
export interface ChannelOptions {
  /** Gets each whole control message, parsed but not validated. */
  onMessage(message: unknown): void;
  /** Gets each whole call or answer, unparsed. Without this handler, calls and answers break the channel. */
  onPacked?(bytes: Buffer): void;
  /** Called once, when either side closes the channel (no error) or the channel breaks. */
  onClose(error: Error | undefined): void;
  /** Bytes of one control message over all its frames. @default 8 MiB */
  maxMessageBytes?: number;
}

/**
 * One end of the host⇄sandbox channel: control messages and flow-controlled byte streams over one duplex. All writes of one tick go in one
 * system call and wake the other side once.
 */
export interface Channel {
  send(message: object): void;
  /** Sends a call or an answer. */
  sendPacked(bytes: Buffer): void;
  /** Sends a message that is not urgent: with the next message, or alone a few milliseconds later. */
  sendEvent(message: object): void;
  /** Sends a message after all pending bytes of the streams. */
  sendLast(message: object): void;
  /**
   * Opens a stream. A message must announce its number before its first byte is written.
   *
   * @param pace the same as on the side that receives it. @default STREAM_PACE
   */
  openStream(pace?: StreamPace): StreamWriter;
  /** Reads a stream that the other side has announced. @throws {FrameError} if the number is not new */
  receive(stream: number, reader: StreamReader, pace?: StreamPace): void;
  /** Ends the channel after it has passed all written bytes to the system. */
  close(): void;
  /** Ends the channel and leaves its duplex, paused, to another reader. No bytes may be on their way, and no stream may be open. */
  release(): Duplex;
  /** Bytes that wait in this process until the other side reads. */
  readonly backlog: number;
}

/** Creates a channel over `duplex`. Any violation of the protocol destroys the duplex. */
export function createChannel(duplex: Duplex, options: ChannelOptions): Channel {
  const maxBytes = options.maxMessageBytes ?? 8 * 1024 * 1024;
  const frames = createFrameWriter(duplex);
  const sent = createSentStreams(frames);
  const received = createReceivedStreams(frames, (error) => shut(asError(error)));
  let closed = false;

  const shut = (error?: Error): void => {
    if (closed) return;
    closed = true;
    frames.stop();
    duplex.destroy();
    sent.release();
    options.onClose(error);
  };

  const handlers = new Map<number, (frame: Frame) => void>([
    [
      FRAME_KIND.message,
      joinMessageParts(maxBytes, (bytes) => {
        if (options.onPacked !== undefined && isPacked(bytes)) options.onPacked(bytes);
        else options.onMessage(parseBoundedJson(bytes, { maxBytes }));
      }),
    ],
    [FRAME_KIND.data, (frame) => received.take(frame)],
    [FRAME_KIND.credit, (frame) => sent.takeCredit(frame)],
  ]);
  const decode = createFrameDecoder((frame) => {
    if (!closed) handlers.get(frame.kind)?.(frame);
  });

  const listeners = {
    data(chunk: Buffer) {
      try {
        decode(chunk);
      } catch (error) {
        shut(asError(error));
      }
    },
    end: () => shut(),
    close: () => shut(),
    error: (error: Error) => shut(error),
  };
  for (const [event, listener] of Object.entries(listeners)) duplex.on(event, listener);

  return {
    send: (message) => writeMessage(frames, JSON.stringify(message), 'now'),
    sendPacked: (bytes) => writeMessage(frames, bytes, 'now'),
    sendEvent: (message) => writeMessage(frames, JSON.stringify(message), 'event'),
    sendLast: (message) => writeMessage(frames, JSON.stringify(message), 'last'),
    openStream: (pace) => sent.open(pace),
    receive: (stream, reader, pace) => received.expect(stream, reader, pace),
    close() {
      frames.flush();
      shut();
    },
    release() {
      frames.flush();
      frames.stop();
      closed = true;
      duplex.pause();
      for (const [event, listener] of Object.entries(listeners)) duplex.off(event, listener);
      return duplex;
    },
    get backlog() {
      return frames.backlog;
    },
  };
}

function asError(value: unknown): Error {
  return value instanceof Error ? value : new Error(String(value));
}

/**
 * Joins the parts of control messages.
 *
 * @param maxBytes most bytes of one message over all its frames
 * @param onMessage called with the bytes of each whole message
 * @returns takes one part; throws a {@link FrameError} if the part violates the protocol
 */
function joinMessageParts(maxBytes: number, onMessage: (bytes: Buffer) => void): (frame: Frame) => void {
  let parts: Buffer[] = [];
  let size = 0;
  return ({ flags, payload }) => {
    const more = (flags & FLAG_MORE) !== 0;
    if (!more && parts.length === 0 && payload.length <= maxBytes) return onMessage(payload);
    // Tiny parts would need far more memory than the bytes that the cap counts.
    if (more && payload.length < MAX_FRAME_PAYLOAD) {
      throw new FrameError('Cannot take a message: a part before the last one is not full.');
    }
    size += payload.length;
    if (size > maxBytes) throw new FrameError(`Cannot take a message: over ${maxBytes} bytes.`);
    parts.push(payload);
    if (more) return;
    const bytes = Buffer.concat(parts);
    parts = [];
    size = 0;
    onMessage(bytes);
  };
}

/** Writes a control message, in several frames if needed. */
function writeMessage(frames: FrameWriter, message: string | Buffer, urgency: Urgency): void {
  const most = typeof message === 'string' ? ONE_FRAME_CHARACTERS : MAX_FRAME_PAYLOAD;
  if (message.length <= most) return frames.control(FRAME_KIND.message, 0, 0, message, urgency);
  const bytes = Buffer.from(message);
  for (let offset = 0; ; offset += MAX_FRAME_PAYLOAD) {
    const part = bytes.subarray(offset, offset + MAX_FRAME_PAYLOAD);
    const last = offset + MAX_FRAME_PAYLOAD >= bytes.length;
    frames.control(FRAME_KIND.message, last ? 0 : FLAG_MORE, 0, part, urgency);
    if (last) return;
  }
}
