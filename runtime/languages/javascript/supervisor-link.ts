import { Buffer } from 'node:buffer';
import { Socket } from 'node:net';
import { createFrameCutter } from '../../../src/protocol/channel/frame-cutter.ts';
import { isPacked } from '../../../src/protocol/channel/packed-call.ts';
import type { HeldProgram } from './bridge-registry.ts';
import { writeWhole } from './reports.ts';

const { parse, stringify } = JSON;

/** 3 bytes of length and one of kind, little endian. */
const HEADER_BYTES = 4;
/** Marks a frame of bytes: the 4-byte number of a part, then some of its bytes. All other frames are JSON. */
const BYTES_KIND = 1;
const PART_BYTES = 4;
/** Bytes of a part in one frame. */
const FRAME_BYTES = 256 * 1024;
/** This many messages are sent before the tick is over: the supervisor passes them on while the program makes the next ones. */
const GATHERED_MESSAGES = 8;
/** Above this size a program that makes calls without end waits until the supervisor reads them. */
const GATHERED_BYTES = 64 * 1024;

/** Handlers of all incoming data. */
export interface SupervisorHandlers {
  message(message: unknown): void;
  answer(bytes: Buffer): void;
  bytes(part: number, bytes: Buffer): void;
  /** The link was closed, by the supervisor or by the program itself. */
  closed(): void;
}

/** The program's side of its link to the supervisor; the other side is `runtime/run/program/executor-link.ts`. */
export interface SupervisorLink {
  /** Writes a whole message, after the gathered ones, before it returns: the process may be about to end. */
  send(message: object | Buffer): void;
  /** Sends a call together with the other calls of the same tick, so that they wake the supervisor once. */
  sendSoon(call: Buffer): void;
  /** Writes the bytes of a part that a message has named. */
  sendBytes(part: number, bytes: Uint8Array): void;
  /** Whether the link keeps the process alive when it has no other work. */
  stayAlive(needed: boolean): void;
}

/** Connects to the supervisor over the link of a program. */
export function connectSupervisor(
  { incoming: descriptor, outgoing, isOpen }: Pick<HeldProgram, 'incoming' | 'outgoing' | 'isOpen'>,
  handlers: SupervisorHandlers,
): SupervisorLink {
  const incoming = new Socket({ fd: descriptor, readable: true, writable: false });
  /** Buffer of waiting messages; `filled` bytes of it are used. */
  let room = Buffer.allocUnsafeSlow(2 * GATHERED_BYTES);
  let messages = 0;
  let filled = 0;
  let isEnding = false;

  const write = (bytes: Uint8Array): void => {
    if (isOpen()) writeWhole(outgoing, bytes);
    else handlers.closed();
  };
  const gather = (body: Buffer): void => {
    const needed = filled + HEADER_BYTES + body.length;
    if (needed > room.length) room = Buffer.concat([room.subarray(0, filled)], 2 * needed);
    room.writeUInt32LE(body.length, filled);
    room.set(body, filled + HEADER_BYTES);
    filled = needed;
    messages += 1;
  };
  const sendGathered = (): void => {
    if (messages === 0) return;
    const frames = room.subarray(0, filled);
    messages = 0;
    filled = 0;
    write(frames);
  };

  const cutter = createFrameCutter({
    headerBytes: HEADER_BYTES,
    payloadBytes: (bytes, start) => bytes.readUIntLE(start, 3),
  });
  const take = (bytes: Buffer, start: number, end: number): void => {
    const body = start + HEADER_BYTES;
    if (bytes[start + 3] === BYTES_KIND)
      return handlers.bytes(bytes.readUInt32LE(body), bytes.subarray(body + PART_BYTES, end));
    const message = bytes.subarray(body, end);
    if (isPacked(message)) handlers.answer(message);
    else handlers.message(parse(message.toString()));
  };
  incoming.on('data', (chunk: Buffer) => {
    cutter.push(chunk);
    while (cutter.next(take));
  });
  incoming.on('error', () => undefined);
  process.on('exit', () => {
    isEnding = true;
    sendGathered();
  });
  incoming.on('close', handlers.closed);

  return {
    send(message) {
      gather(Buffer.isBuffer(message) ? message : Buffer.from(stringify(message)));
      sendGathered();
    },
    sendSoon(call) {
      if (messages === 0) process.nextTick(sendGathered);
      gather(call);
      // No tick follows the listeners of the process's end.
      if (isEnding || messages >= GATHERED_MESSAGES || filled > GATHERED_BYTES) sendGathered();
    },
    sendBytes(part, bytes) {
      for (let offset = 0; offset < bytes.length; offset += FRAME_BYTES) {
        const piece = bytes.subarray(offset, offset + FRAME_BYTES);
        const header = Buffer.allocUnsafe(HEADER_BYTES + PART_BYTES);
        header.writeUIntLE(PART_BYTES + piece.length, 0, 3);
        header[3] = BYTES_KIND;
        header.writeUInt32LE(part, HEADER_BYTES);
        write(Buffer.concat([header, piece]));
      }
    },
    stayAlive(needed) {
      if (needed) incoming.ref();
      else incoming.unref();
    },
  };
}
