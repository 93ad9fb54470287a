import type { Readable, Writable } from 'node:stream';
import { addPiece } from '../../src/protocol/add-piece.ts';
import { parseBoundedJson } from '../../src/protocol/bounded-json.ts';

/** A message from an executor. Its process runs user code, so nothing in it is believed but its form. */
export type ExecutorMessage =
  | { type: 'waiting' }
  | { type: 'rehearsed' }
  /** What a script requires and is not there. */
  | { type: 'checked'; unmet: unknown }
  /** `size` is that of the whole message, in bytes. */
  | { type: 'call'; id: unknown; target: unknown; name: unknown; args: unknown; bytes: unknown; size: number }
  /** The program ended, and all that it wrote is on its way. */
  | { type: 'exit'; code: number; error?: unknown; json?: unknown }
  /** The program is ending by an error; its process will end when it has said so. */
  | { type: 'error'; error?: unknown; json?: unknown };

/**
 * Frames to and from one executor: 3 bytes of length and one of kind, little endian, then JSON, or the 4-byte number of a part and
 * bytes of it. A message names the parts that follow it.
 */
export interface ExecutorLink {
  send(message: object): void;
  /** Sends bytes of a part that a message has named. A promise withholds more until the executor has room. */
  sendBytes(part: number, chunk: Uint8Array): void | Promise<void>;
  /** Sends NUL-terminated strings, which is what the bash executor reads. */
  sendStrings(strings: readonly string[]): void;
  /** Stops reading until the same reason is released; more waits in the executor's own pipe. */
  hold(reason: HoldReason): void;
  release(reason: HoldReason): void;
  /** Who takes the messages; set anew when a run begins. */
  onMessage: (message: ExecutorMessage) => void;
  onBytes: (part: number, chunk: Buffer) => void;
  /** Told once when something arrives that is no message, or one over the cap. */
  onFault: (reason: string) => void;
}

/** What keeps messages waiting: too many calls under way, answers that nobody reads, bytes that the host has yet to take. */
export type HoldReason = 'calls' | 'answers' | 'bytes';

/** What a frame carries, in the highest byte of its length. */
const FRAME_KIND = { message: 0, bytes: 1 } as const;
const PART_BYTES = 4;
/** Bytes of one frame of bytes. */
const MAX_BYTES_FRAME = 256 * 1024 + PART_BYTES;
/** Bytes of parts that wait for the executor, beyond which their senders wait as well. */
const SENT_BYTES = 1024 * 1024;

/** Bytes of answers that may wait for a program that doesn't read them. */
const MAX_UNREAD = 32 * 1024 * 1024;

/** Connects to an executor, whose messages may have at most `maxBytes`. */
export function connectExecutor(input: Readable, output: Writable, maxBytes: number): ExecutorLink {
  let held: Buffer[] = [];
  let size = 0;
  let broken = false;
  const holds = new Set<HoldReason>();
  /** Who waits until the executor has room. */
  const waiting: (() => void)[] = [];

  const fail = (reason: string): void => {
    broken = true;
    held = [];
    link.onFault(reason);
  };

  const next = (): { kind: number; body: Buffer } | undefined => {
    if (size < 4) return undefined;
    let whole = held.length === 1 ? (held[0] as Buffer) : Buffer.concat(held);
    held = [whole];
    const { kind, length } = readHeader(whole);
    const most = kind === FRAME_KIND.bytes ? MAX_BYTES_FRAME : maxBytes;
    if (length > most) {
      fail(`a message over ${most} bytes`);
      return undefined;
    }
    if (size < 4 + length) return undefined;
    const body = whole.subarray(4, 4 + length);
    whole = whole.subarray(4 + length);
    size = whole.length;
    held = size > 0 ? [whole] : [];
    return { kind, body };
  };

  /** Hands messages on until there is none left or someone holds them: one chunk may hold hundreds. */
  const take = (): void => {
    while (holds.size === 0 && !broken) {
      const frame = next();
      if (frame === undefined) return;
      if (!takeFrame(frame.kind, frame.body)) return fail('a message of no known form');
    }
  };

  const takeFrame = (kind: number, body: Buffer): boolean => {
    if (kind === FRAME_KIND.bytes && body.length >= PART_BYTES) {
      link.onBytes(body.readUInt32LE(0), body.subarray(PART_BYTES));
      return true;
    }
    const message = kind === FRAME_KIND.message ? readMessage(body, maxBytes) : undefined;
    if (message !== undefined) link.onMessage(message);
    return message !== undefined;
  };

  input.on('data', (chunk: Buffer) => {
    if (broken) return;
    addPiece(held, chunk);
    size += chunk.length;
    // A large message arrives in many chunks; joining them waits until the announced length is there.
    if (size >= 4 && held.length > 1 && (held[0] as Buffer).length >= 4) {
      const { length } = readHeader(held[0] as Buffer);
      if (length <= maxBytes && size < 4 + length) return;
    }
    take();
  });
  // The executor's end is noticed by its process, and a write to an executor that is gone is of no use to anyone.
  input.on('error', () => undefined);
  output.on('error', () => undefined);
  output.on('drain', () => {
    link.release('answers');
    for (const resume of waiting.splice(0)) resume();
  });
  output.on('close', () => {
    for (const resume of waiting.splice(0)) resume();
  });

  /** What is written in one tick leaves together: each write of its own would wake the program. */
  let gathering = false;
  const write = (piece: Uint8Array): void => {
    if (!gathering) {
      gathering = true;
      output.cork();
      process.nextTick(() => {
        gathering = false;
        output.uncork();
      });
    }
    output.write(piece);
  };

  const link: ExecutorLink = {
    onMessage: () => undefined,
    onBytes: () => undefined,
    onFault: () => undefined,
    send(message) {
      const text = JSON.stringify(message);
      const size = Buffer.byteLength(text);
      const frame = Buffer.allocUnsafe(4 + size);
      frame.writeUInt32LE(size, 0);
      frame.write(text, 4);
      write(frame);
      if (output.writableLength > MAX_UNREAD) link.hold('answers');
    },
    sendBytes(part, chunk) {
      for (let offset = 0; offset < chunk.length; offset += MAX_BYTES_FRAME - PART_BYTES) {
        const piece = chunk.subarray(offset, offset + MAX_BYTES_FRAME - PART_BYTES);
        const header = Buffer.allocUnsafe(4 + PART_BYTES);
        header.writeUIntLE(PART_BYTES + piece.length, 0, 3);
        header[3] = FRAME_KIND.bytes;
        header.writeUInt32LE(part, 4);
        write(header);
        write(piece);
      }
      if (output.writableLength < SENT_BYTES || output.destroyed) return undefined;
      return new Promise((resolve) => waiting.push(resolve));
    },
    sendStrings(strings) {
      write(Buffer.from(strings.map((text) => `${text}\0`).join('')));
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

function readHeader(bytes: Buffer): { kind: number; length: number } {
  return { kind: bytes[3] ?? 0, length: bytes.readUIntLE(0, 3) };
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
      return { type: fields['type'] };
    case 'call':
      return {
        type: 'call',
        id: fields['id'],
        target: fields['target'],
        name: fields['name'],
        args: fields['args'],
        bytes: fields['bytes'],
        size: body.length,
      };
    case 'checked':
      return { type: 'checked', unmet: fields['unmet'] };
    case 'error':
      return { type: 'error', error: fields['error'], json: fields['json'] };
    case 'exit': {
      const code = fields['code'];
      if (typeof code !== 'number' || !Number.isInteger(code)) return undefined;
      return { type: 'exit', code: code & 255, error: fields['error'], json: fields['json'] };
    }
    default:
      return undefined;
  }
}
