import type { Duplex } from 'node:stream';
import { parseBoundedJson } from './bounded-json.ts';
import {
  FLAG_END,
  FLAG_MORE,
  FRAME_KIND,
  FrameError,
  MAX_FRAME_PAYLOAD,
  createFrameDecoder,
  encodeFrameHeader,
  type Frame,
} from './frame.ts';

/** Bytes that a sender may have under way on one stream before the reader grants more. */
export const STREAM_WINDOW: number = 1024 * 1024;
/** Bytes that a reader gives back at once: a credit for each small piece would wake the other side as often. */
const GRANTED_BYTES = STREAM_WINDOW / 4;
/** How long an event may wait for something to travel with. */
const EVENT_DELAY_MS = 4;

/** Takes the bytes of one incoming stream. A pending promise withholds credit, and so slows the sender. */
export interface StreamReader {
  data(chunk: Buffer): void | Promise<void>;
  end(): void;
}

/** Options of {@link createChannel}. */
export interface ChannelOptions {
  /** A whole control message, parsed but not validated. */
  onMessage(message: unknown): void;
  /** The reader of a stream that the other side starts; `undefined` refuses it, which ends the channel. */
  onStream(stream: number): StreamReader | undefined;
  /** Called once: the other side closed (no error), or the channel broke. */
  onClose(error: Error | undefined): void;
  /** Bytes of one control message over all its frames. @default 8 MiB */
  maxMessageBytes?: number;
}

/** An outgoing stream. `write` resolves when the other side has granted the room. */
export interface StreamWriter {
  write(chunk: Uint8Array): Promise<void>;
  end(): void;
}

/**
 * Both ends of the host⇄sandbox channel: control messages and flow-controlled byte streams over one duplex. What is written in one
 * tick goes in one system call, and wakes the other side once.
 */
export interface Channel {
  send(message: object): void;
  /** Sends something that nobody waits for: with what is sent next, or alone a few milliseconds later. */
  sendEvent(message: object): void;
  openStream(stream: number): StreamWriter;
  /** Ends the channel; what was written before is handed to the system first. */
  close(): void;
  /** Bytes that wait in this process for the other side to read. */
  readonly backlog: number;
}

interface Outgoing {
  credit: number;
  waiting: (() => void)[];
}

interface Incoming {
  reader: StreamReader;
  /** Bytes that the sender may still send. */
  window: number;
  /** Bytes that were taken and not yet given back. */
  owed: number;
}

/** Creates a channel over `duplex`. Whatever breaks the form of the protocol destroys the duplex. */
export function createChannel(duplex: Duplex, options: ChannelOptions): Channel {
  const maxMessageBytes = options.maxMessageBytes ?? 8 * 1024 * 1024;
  const outgoing = new Map<number, Outgoing>();
  const incoming = new Map<number, Incoming>();
  const finished = new Set<number>();
  let messageParts: Buffer[] = [];
  let messageBytes = 0;
  let closed = false;
  let corked = false;
  let flushing = false;
  let eventTimer: NodeJS.Timeout | undefined;

  const shut = (error?: Error): void => {
    if (closed) return;
    closed = true;
    clearTimeout(eventTimer);
    duplex.destroy();
    for (const { waiting } of outgoing.values()) for (const resume of waiting) resume();
    options.onClose(error);
  };

  const flush = (): void => {
    if (!corked) return;
    corked = false;
    flushing = false;
    clearTimeout(eventTimer);
    duplex.uncork();
  };

  const write = (kind: number, flags: number, stream: number, payload: Uint8Array, isEvent = false): void => {
    if (closed || duplex.writableEnded) return;
    if (!corked) {
      corked = true;
      duplex.cork();
      if (isEvent) eventTimer = setTimeout(flush, EVENT_DELAY_MS);
    }
    if (!isEvent && !flushing) {
      flushing = true;
      process.nextTick(flush);
    }
    duplex.write(encodeFrameHeader(kind, flags, stream, payload.length));
    if (payload.length > 0) duplex.write(payload);
  };

  const grant = (stream: number, entry: Incoming, amount: number): void => {
    if (closed || finished.has(stream)) return;
    entry.owed += amount;
    if (entry.owed < GRANTED_BYTES) return;
    const payload = Buffer.allocUnsafe(4);
    payload.writeUInt32LE(entry.owed, 0);
    entry.window += entry.owed;
    entry.owed = 0;
    write(FRAME_KIND.credit, 0, stream, payload);
  };

  const onData = (frame: Frame): void => {
    let entry = incoming.get(frame.stream);
    if (entry === undefined) {
      const reader = finished.has(frame.stream) ? undefined : options.onStream(frame.stream);
      if (reader === undefined) throw new FrameError(`Cannot take a stream: unknown number, got ${frame.stream}.`);
      entry = { reader, window: STREAM_WINDOW, owed: 0 };
      incoming.set(frame.stream, entry);
    }
    const size = frame.payload.length;
    if (size > entry.window) throw new FrameError('Cannot take a stream: the sender ignores its window.');
    entry.window -= size;
    const { stream } = frame;
    if (size > 0) {
      const taken = entry.reader.data(frame.payload);
      if (taken === undefined) grant(stream, entry, size);
      else
        taken.then(
          () => grant(stream, entry, size),
          (error: unknown) => shut(asError(error)),
        );
    }
    if ((frame.flags & FLAG_END) !== 0) {
      incoming.delete(stream);
      finished.add(stream);
      entry.reader.end();
    }
  };

  const onCredit = (frame: Frame): void => {
    if (frame.payload.length !== 4) throw new FrameError('Cannot take credit: its payload is not 4 bytes.');
    const entry = outgoing.get(frame.stream);
    if (entry === undefined) return;
    entry.credit += frame.payload.readUInt32LE(0);
    if (entry.credit > STREAM_WINDOW) throw new FrameError('Cannot take credit: more than was sent.');
    const { waiting } = entry;
    entry.waiting = [];
    for (const resume of waiting) resume();
  };

  const onMessagePart = (frame: Frame): void => {
    const more = (frame.flags & FLAG_MORE) !== 0;
    // Tiny parts would cost far more to hold than the bytes that the cap counts.
    if (more && frame.payload.length < MAX_FRAME_PAYLOAD) {
      throw new FrameError('Cannot take a message: a part of it that is not the last one is not full.');
    }
    messageBytes += frame.payload.length;
    if (messageBytes > maxMessageBytes) throw new FrameError(`Cannot take a message: over ${maxMessageBytes} bytes.`);
    messageParts.push(frame.payload);
    if (more) return;
    const bytes = messageParts.length === 1 ? frame.payload : Buffer.concat(messageParts);
    messageParts = [];
    messageBytes = 0;
    options.onMessage(parseBoundedJson(bytes, { maxBytes: maxMessageBytes }));
  };

  const handlers = new Map<number, (frame: Frame) => void>([
    [FRAME_KIND.message, onMessagePart],
    [FRAME_KIND.data, onData],
    [FRAME_KIND.credit, onCredit],
  ]);
  const decode = createFrameDecoder((frame) => {
    if (!closed) handlers.get(frame.kind)?.(frame);
  });

  duplex.on('data', (chunk: Buffer) => {
    if (closed) return;
    try {
      decode(chunk);
    } catch (error) {
      shut(asError(error));
    }
  });
  duplex.on('end', () => shut());
  duplex.on('close', () => shut());
  duplex.on('error', (error: Error) => shut(error));

  const writeMessage = (message: object, isEvent: boolean): void => {
    const bytes = Buffer.from(JSON.stringify(message));
    for (let offset = 0; ; offset += MAX_FRAME_PAYLOAD) {
      const part = bytes.subarray(offset, offset + MAX_FRAME_PAYLOAD);
      const last = offset + MAX_FRAME_PAYLOAD >= bytes.length;
      write(FRAME_KIND.message, last ? 0 : FLAG_MORE, 0, part, isEvent);
      if (last) return;
    }
  };

  return {
    send: (message) => writeMessage(message, false),
    sendEvent: (message) => writeMessage(message, true),
    openStream(stream) {
      const entry: Outgoing = { credit: STREAM_WINDOW, waiting: [] };
      outgoing.set(stream, entry);
      return {
        async write(chunk) {
          for (let offset = 0; offset < chunk.length;) {
            while (entry.credit === 0 && !closed) {
              await new Promise<void>((resolve) => entry.waiting.push(resolve));
            }
            if (closed) return;
            const size = Math.min(entry.credit, MAX_FRAME_PAYLOAD, chunk.length - offset);
            entry.credit -= size;
            write(FRAME_KIND.data, 0, stream, chunk.subarray(offset, offset + size));
            offset += size;
          }
        },
        end() {
          write(FRAME_KIND.data, FLAG_END, stream, new Uint8Array(0));
        },
      };
    },
    close() {
      flush();
      shut();
    },
    get backlog() {
      return duplex.writableLength;
    },
  };
}

function asError(value: unknown): Error {
  return value instanceof Error ? value : new Error(String(value));
}
