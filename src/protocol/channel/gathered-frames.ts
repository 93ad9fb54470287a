import type { Writable } from 'node:stream';

/** Size of the buffer that gathers small frames. */
const ROOM_BYTES = 16 * 1024;
/** Larger frames are passed on without a copy. */
const COPIED_BYTES = 2 * 1024;
/** After this many frames, waiting for more does not pay: the reader can start while the next frames are made. */
const ENOUGH_FRAMES = 8;
/** Most bytes of one UTF-16 unit as UTF-8. */
const UNIT_BYTES = 3;

/** Writes the header of a frame whose payload has `length` bytes. */
export interface FrameHeader {
  bytes: number;
  write(target: Buffer, offset: number, length: number): void;
}

/** Gathers frames for a stream. Small frames are joined, because each write costs the same for any size. */
export interface GatheredFrames {
  add(header: FrameHeader, payload: string | Uint8Array): void;
  /** Writes the gathered frames to the stream. */
  flush(): void;
  /** Bytes of gathered frames. */
  readonly bytes: number;
  /** True if it is time to flush. */
  readonly isEnough: boolean;
}

/** Creates the gathering buffer of one stream. */
export function createGatheredFrames(stream: Writable): GatheredFrames {
  let room: Buffer = Buffer.alloc(0);
  /** Flushed and filled bytes of the buffer. */
  let handed = 0;
  let filled = 0;
  let frames = 0;

  const flush = (): void => {
    frames = 0;
    if (filled > handed) stream.write(room.subarray(handed, filled));
    handed = filled;
  };
  const makeRoom = (bytes: number): void => {
    if (room.length - filled >= bytes) return;
    flush();
    room = Buffer.allocUnsafeSlow(ROOM_BYTES);
    handed = 0;
    filled = 0;
  };
  const addLarge = (header: FrameHeader, payload: Uint8Array): void => {
    const head = Buffer.allocUnsafe(header.bytes);
    header.write(head, 0, payload.length);
    flush();
    stream.write(head);
    stream.write(payload);
  };

  return {
    flush,
    add(header, payload) {
      const isText = typeof payload === 'string';
      const most = isText ? payload.length * UNIT_BYTES : payload.length;
      if (most > COPIED_BYTES) return addLarge(header, isText ? Buffer.from(payload) : payload);
      makeRoom(header.bytes + most);
      const start = filled + header.bytes;
      if (isText) filled = start + room.write(payload, start);
      else {
        room.set(payload, start);
        filled = start + payload.length;
      }
      header.write(room, start - header.bytes, filled - start);
      frames += 1;
    },
    get bytes() {
      return filled - handed;
    },
    get isEnough() {
      return frames >= ENOUGH_FRAMES;
    },
  };
}
