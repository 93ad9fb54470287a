import { Buffer } from 'node:buffer';
import { fstatSync, writeSync } from 'node:fs';

const { stringify } = JSON;
const { create, entries } = Object;
const HEADER_BYTES = 4;
/** How long to wait for room in a full pipe that another process made non-blocking. */
const FULL_MS = 1;

/** Messages to the supervisor over a descriptor. */
export interface Reports {
  /** Writes the whole message before it returns. A message to a closed link is dropped. */
  send(message: object): void;
  /** Whether the descriptor still belongs to the link. */
  isOpen(): boolean;
}

/** Sends messages over a descriptor as long as it belongs to the link: a program may close it and open a file in its place. */
export function createReports(descriptor: number): Reports {
  const { dev, ino } = fstatSync(descriptor);
  const isOpen = (): boolean => {
    try {
      const now = fstatSync(descriptor);
      return now.dev === dev && now.ino === ino;
    } catch {
      // The program has closed the descriptor.
      return false;
    }
  };
  return {
    isOpen,
    send(message) {
      if (!isOpen()) return;
      const body = Buffer.from(stringify(bare(message)));
      const frame = Buffer.allocUnsafe(HEADER_BYTES + body.length);
      frame.writeUInt32LE(body.length, 0);
      body.copy(frame, HEADER_BYTES);
      writeWhole(descriptor, frame);
    },
  };
}

/** A copy without inherited fields: a program may add a `toJSON` to all objects. */
function bare(message: object): object {
  const copy = create(null) as Record<string, unknown>;
  for (const [key, value] of entries(message))
    copy[key] = typeof value === 'object' && value !== null ? bare(value) : value;
  return copy;
}

/** Writes all bytes before it returns, also to a full pipe that is non-blocking. */
export function writeWhole(descriptor: number, bytes: Uint8Array): void {
  for (let offset = 0; offset < bytes.length;) {
    try {
      offset += writeSync(descriptor, bytes, offset);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, FULL_MS);
    }
  }
}
