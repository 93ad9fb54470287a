import { FLAG_MORE, FRAME_KIND, FrameError, MAX_FRAME_PAYLOAD, type Frame } from './frame.ts';
import type { FrameWriter, Urgency } from './frame-writer.ts';

/** A text of as many UTF-16 units fits into one frame. */
const ONE_FRAME_CHARACTERS = Math.floor(MAX_FRAME_PAYLOAD / 3);

/**
 * Puts the parts of control messages together.
 *
 * @param maxBytes most bytes of one message over all its frames
 * @param onMessage called with the bytes of each whole message
 * @returns takes one part, and throws a {@link FrameError} at one that no sender who keeps the protocol sends
 */
export function joinMessageParts(maxBytes: number, onMessage: (bytes: Buffer) => void): (frame: Frame) => void {
  let parts: Buffer[] = [];
  let size = 0;
  return ({ flags, payload }) => {
    const more = (flags & FLAG_MORE) !== 0;
    if (!more && parts.length === 0 && payload.length <= maxBytes) return onMessage(payload);
    // Tiny parts would cost far more to hold than the bytes that the cap counts.
    if (more && payload.length < MAX_FRAME_PAYLOAD) {
      throw new FrameError('Cannot take a message: a part of it that is not the last one is not full.');
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

/** Writes a control message in as many frames as it needs. */
export function writeMessage(frames: FrameWriter, message: string | Buffer, urgency: Urgency): void {
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
