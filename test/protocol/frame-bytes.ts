import { Buffer } from 'node:buffer';
import { FRAME_HEADER_BYTES } from '../../src/protocol/channel/frame.ts';

/** The bytes of a frame, with a claimed length that may be false. */
export function frameBytes(
  kind: number,
  flags: number,
  stream: number,
  payload: Uint8Array,
  claimed: number = payload.length,
): Buffer {
  const header = Buffer.alloc(FRAME_HEADER_BYTES);
  header.writeUInt32LE(claimed, 0);
  header[4] = kind;
  header[5] = flags;
  header.writeUInt32LE(stream, 6);
  return Buffer.concat([header, payload]);
}
