import { Buffer } from 'node:buffer';
import { FRAME_HEADER_BYTES, FRAME_KIND } from '../../src/protocol/channel/frame.ts';

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

/** The bytes of a frame that grants credit. */
export function creditBytes(stream: number, amount: number): Buffer {
  const payload = Buffer.alloc(4);
  payload.writeUInt32LE(amount, 0);
  return frameBytes(FRAME_KIND.credit, 0, stream, payload);
}
