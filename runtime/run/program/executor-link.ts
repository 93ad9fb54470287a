import type { Readable, Writable } from 'node:stream';
import { parseBoundedJson } from '../../../src/protocol/channel/bounded-json.ts';
import { FrameError } from '../../../src/protocol/channel/frame.ts';
import { createFrameCutter } from '../../../src/protocol/channel/frame-cutter.ts';
import { createGatheredFrames, type FrameHeader } from '../../../src/protocol/channel/gathered-frames.ts';
import { isPacked } from '../../../src/protocol/channel/packed-call.ts';

/** A message from an executor. Its process runs user code, so only the form of the message is trusted. */
export type ExecutorMessage =
  | { type: 'waiting' }
  | { type: 'rehearsed' }
  /** The missing requirements of a script. */
  | { type: 'checked'; unmet: unknown }
  /** The output that was buffered at the request is written. */
  | { type: 'flushed' }
  /** The error that is about to end the program. The process status tells how the program ends. */
  | { type: 'report'; error: unknown }
  /** The program's value: its JSON text, its byte count if it is too large to send, or the reason why the export is not a value. */
  | { type: 'value'; json: unknown; invalid: unknown }
  | { type: SessionMessageType; fields: Record<string, unknown> };

/** Messages of a session: the end of a run, a result, the end of an operation on files, read input, and the states of a command. */
type SessionMessageType = 'cell' | 'shown' | 'file' | 'fed' | 'spawned' | 'unfed' | 'output-end' | 'exited' | 'printed';

/**
 * Frames to and from one executor. A frame has 3 bytes of length and one of kind, little endian. Then follows JSON, a call or an answer
 * (`packed-call.ts`), or the 4-byte number of a part and bytes of it. A message names the parts that follow it.
 */
export interface ExecutorLink {
  send(message: object): void;
  /** Sends an answer. */
  sendPacked(bytes: Buffer): void;
  /** Sends bytes of a part that a message has named. If it returns a promise, wait for it: the executor has no room. */
  sendBytes(part: number, chunk: Uint8Array): void | Promise<void>;
  /** Sends NUL-terminated strings, the format of the bash executor. */
  sendStrings(strings: readonly string[]): void;
  /** Stops reading until the same reason is released; further messages wait in the executor's own pipe. */
  hold(reason: HoldReason): void;
  release(reason: HoldReason): void;
  /** Receives the messages; replaced when a run begins. */
  onMessage: (message: ExecutorMessage) => void;
  /** Receives the calls unread. A FrameError that it throws is a fault of the link. */
  onCall: (bytes: Buffer) => void;
  onBytes: (part: number, chunk: Buffer) => void;
  /** Called once for an invalid message or a message over the cap. */
  onFault: (reason: string) => void;
}

/** The reasons for holding messages: too many calls under way, unread answers, or bytes or results that the host has not taken yet. */
export type HoldReason = 'calls' | 'answers' | 'bytes' | 'results';

/** The kind of a frame's content, in the highest byte of its length. */
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
/** Limit of waiting bytes of parts. Above it, their senders wait as well. */
const SENT_BYTES = 1024 * 1024;

/**
 * Limit of answer bytes that wait for a program that does not read them. Bytes of parts do not count, because they wait for room themselves: a
 * program that writes while they arrive would wait for this process to read, and this process for the program.
 */
const MAX_UNREAD = 32 * 1024 * 1024;

/** Connects to an executor, whose messages may have at most `maxBytes`. */
export function connectExecutor(input: Readable, output: Writable, maxBytes: number): ExecutorLink {
  let broken = false;
  const holds = new Set<HoldReason>();
  /** The senders that wait until the executor has room. */
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

  /** Hands messages on until none is left or a reason holds them: one chunk may contain hundreds. */
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
    if (message === undefined) throw new FrameError('a message of an unknown form');
    link.onMessage(message);
  };

  input.on('data', (chunk: Buffer) => {
    if (broken) return;
    cutter.push(chunk);
    take();
  });
  // The process status reports the executor's end. A write to an ended executor has no reader.
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

  /** Writes of one tick leave together, unless they are large: each separate write would wake the program. */
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
  /** Bytes of answers since the backlog was last empty. */
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

/** Strings after their count, for a reader of strings. */
export function counted(strings: readonly string[]): string[] {
  return [`${strings.length}`, ...strings];
}

/** Variables after their count, in the form of `env`. */
export function countedVariables(env: Readonly<Record<string, string>>): string[] {
  return counted(Object.entries(env).map(([name, value]) => `${name}=${value}`));
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
    // The input is hostile or broken. The caller ends the run with its own reason.
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
    case 'fed':
    case 'spawned':
    case 'unfed':
    case 'output-end':
    case 'exited':
    case 'printed':
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
