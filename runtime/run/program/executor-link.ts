import type { Readable, Writable } from 'node:stream';
import { parseBoundedJson } from '../../../src/protocol/channel/bounded-json.ts';
import { FrameError } from '../../../src/protocol/channel/frame.ts';
import { createFrameCutter } from '../../../src/protocol/channel/frame-cutter.ts';
import { createGatheredFrames, type FrameHeader } from '../../../src/protocol/channel/gathered-frames.ts';
import { isPacked } from '../../../src/protocol/channel/packed-call.ts';

/** A message from an executor. Its process runs user code, so nothing in it is believed but its form. */
export type ExecutorMessage =
  | { type: 'waiting' }
  | { type: 'rehearsed' }
  /** What a script requires and is not there. */
  | { type: 'checked'; unmet: unknown }
  /** What its streams held when it was asked for that is written. */
  | { type: 'flushed' }
  /** The error that is about to end the program. How the program ends, its process says. */
  | { type: 'report'; error: unknown }
  /** The program's value: JSON text, the bytes of one that is too large to be sent, or why what it exports is none. */
  | { type: 'value'; json: unknown; invalid: unknown }
  /** What came of a run of a session, what it shows, or what came of an operation on its files. */
  | { type: 'cell' | 'shown' | 'file'; fields: Record<string, unknown> };

/**
 * Frames to and from one executor: 3 bytes of length and one of kind, little endian, then JSON, a call or an answer (`packed-call.ts`), or the 4-byte number of a part and
 * bytes of it. A message names the parts that follow it.
 */
export interface ExecutorLink {
  send(message: object): void;
  /** Sends an answer. */
  sendPacked(bytes: Buffer): void;
  /** Sends bytes of a part that a message has named. A promise withholds more until the executor has room. */
  sendBytes(part: number, chunk: Uint8Array): void | Promise<void>;
  /** Sends NUL-terminated strings, which is what the bash executor reads. */
  sendStrings(strings: readonly string[]): void;
  /** Stops reading until the same reason is released; more waits in the executor's own pipe. */
  hold(reason: HoldReason): void;
  release(reason: HoldReason): void;
  /** Who takes the messages; set anew when a run begins. */
  onMessage: (message: ExecutorMessage) => void;
  /** Who takes the calls, as they came. What it throws as a FrameError is a fault of the link. */
  onCall: (bytes: Buffer) => void;
  onBytes: (part: number, chunk: Buffer) => void;
  /** Told once when something arrives that is no message, or one over the cap. */
  onFault: (reason: string) => void;
}

/** What keeps messages waiting: too many calls under way, answers that nobody reads, bytes or results that the host has yet to take. */
export type HoldReason = 'calls' | 'answers' | 'bytes' | 'results';

/** What a frame carries, in the highest byte of its length. */
const FRAME_KIND = { message: 0, bytes: 1 } as const;
const LENGTH_BYTES = 4;
const PART_BYTES = 4;
const NO_HEADER: FrameHeader = { bytes: 0, write: () => undefined };
const MESSAGE_HEADER: FrameHeader = {
  bytes: LENGTH_BYTES,
  write: (target, offset, length) => void target.writeUInt32LE(length, offset),
};
/** Bytes of one frame of bytes. */
const MAX_BYTES_FRAME = 256 * 1024 + PART_BYTES;
/** Bytes of parts that wait for the executor, beyond which their senders wait as well. */
const SENT_BYTES = 1024 * 1024;

/**
 * Bytes of answers that may wait for a program that doesn't read them. Parts do not count, which wait for room themselves: a program that
 * writes while they come would wait for us to read, as we for it.
 */
const MAX_UNREAD = 32 * 1024 * 1024;

/** Connects to an executor, whose messages may have at most `maxBytes`. */
export function connectExecutor(input: Readable, output: Writable, maxBytes: number): ExecutorLink {
  let broken = false;
  const holds = new Set<HoldReason>();
  /** Who waits until the executor has room. */
  const waiting: (() => void)[] = [];
  const cutter = createFrameCutter({
    headerBytes: LENGTH_BYTES,
    payloadBytes(bytes, start) {
      const most = bytes[start + 3] === FRAME_KIND.bytes ? MAX_BYTES_FRAME : maxBytes;
      const length = bytes.readUIntLE(start, 3);
      if (length > most) throw new FrameError(`a message over ${most} bytes`);
      return length;
    },
  });

  /** Hands messages on until there is none left or someone holds them: one chunk may hold hundreds. */
  const take = (): void => {
    try {
      while (holds.size === 0 && !broken && cutter.next(takeFrame));
    } catch (error) {
      if (!FrameError.isInstance(error)) throw error;
      broken = true;
      link.onFault(error.message);
    }
  };

  const takeFrame = (bytes: Buffer, start: number, end: number): void => {
    const kind = bytes[start + 3];
    const body = bytes.subarray(start + LENGTH_BYTES, end);
    if (kind === FRAME_KIND.bytes && body.length >= PART_BYTES)
      return link.onBytes(body.readUInt32LE(0), body.subarray(PART_BYTES));
    if (kind === FRAME_KIND.message && isPacked(body)) return link.onCall(body);
    const message = kind === FRAME_KIND.message ? readMessage(body, maxBytes) : undefined;
    if (message === undefined) throw new FrameError('a message of no known form');
    link.onMessage(message);
  };

  input.on('data', (chunk: Buffer) => {
    if (broken) return;
    cutter.push(chunk);
    take();
  });
  // The executor's end is noticed by its process, and a write to an executor that is gone is of no use to anyone.
  input.on('error', () => undefined);
  output.on('error', () => undefined);
  output.on('drain', () => {
    unread = 0;
    link.release('answers');
    for (const resume of waiting.splice(0)) resume();
  });
  output.on('close', () => {
    for (const resume of waiting.splice(0)) resume();
  });

  /** What is written in one tick leaves together, unless it is much: each write of its own would wake the program. */
  const frames = createGatheredFrames(output);
  let gathering = false;
  const flush = (): void => {
    if (!gathering) return;
    gathering = false;
    frames.flush();
    output.uncork();
  };
  const write = (header: FrameHeader, payload: string | Uint8Array): void => {
    if (!gathering) {
      gathering = true;
      output.cork();
      process.nextTick(flush);
    }
    frames.add(header, payload);
    if (frames.isEnough) flush();
  };
  /** Bytes of answers that were sent since nothing waited. */
  let unread = 0;
  const backlog = (): number => output.writableLength + frames.bytes;

  const link: ExecutorLink = {
    onMessage: () => undefined,
    onCall: () => undefined,
    onBytes: () => undefined,
    onFault: () => undefined,
    send: (message) => write(MESSAGE_HEADER, JSON.stringify(message)),
    sendPacked(bytes) {
      unread = backlog() === 0 ? bytes.length : unread + bytes.length;
      write(MESSAGE_HEADER, bytes);
      if (unread > MAX_UNREAD) link.hold('answers');
    },
    sendBytes(part, chunk) {
      const header = bytesHeader(part);
      for (let offset = 0; offset < chunk.length; offset += MAX_BYTES_FRAME - PART_BYTES)
        write(header, chunk.subarray(offset, offset + MAX_BYTES_FRAME - PART_BYTES));
      if (backlog() < SENT_BYTES || output.destroyed) return undefined;
      return new Promise((resolve) => waiting.push(resolve));
    },
    sendStrings(strings) {
      write(NO_HEADER, terminated(strings));
    },
    hold(reason) {
      holds.add(reason);
      input.pause();
    },
    release(reason) {
      if (!holds.delete(reason)) return;
      take();
      if (holds.size === 0) input.resume();
    },
  };
  return link;
}

/** Strings behind their number, for a reader of strings. */
export function counted(strings: readonly string[]): string[] {
  return [`${strings.length}`, ...strings];
}

/** Strings, each with a NUL at its end. */
export function terminated(strings: readonly string[]): string {
  return strings.map((text) => `${text}\0`).join('');
}

function bytesHeader(part: number): FrameHeader {
  return {
    bytes: LENGTH_BYTES + PART_BYTES,
    write(target, offset, length) {
      target.writeUIntLE(PART_BYTES + length, offset, 3);
      target[offset + 3] = FRAME_KIND.bytes;
      target.writeUInt32LE(part, offset + LENGTH_BYTES);
    },
  };
}

function readMessage(body: Buffer, maxBytes: number): ExecutorMessage | undefined {
  let parsed: unknown;
  try {
    parsed = parseBoundedJson(body, { maxBytes });
  } catch {
    // Hostile or broken input; the caller ends the run with its own reason.
    return undefined;
  }
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) return undefined;
  const fields = parsed as Record<string, unknown>;
  switch (fields['type']) {
    case 'waiting':
    case 'rehearsed':
    case 'flushed':
      return { type: fields['type'] };
    case 'cell':
    case 'shown':
    case 'file':
      return { type: fields['type'], fields };
    case 'checked':
      return { type: 'checked', unmet: fields['unmet'] };
    case 'report':
      return { type: 'report', error: fields['error'] };
    case 'value':
      return { type: 'value', json: fields['json'], invalid: fields['invalid'] };
    default:
      return undefined;
  }
}
