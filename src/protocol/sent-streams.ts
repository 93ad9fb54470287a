import { STREAM_WINDOW, type StreamWriter } from './byte-stream.ts';
import { FLAG_END, FRAME_KIND, FrameError, MAX_FRAME_PAYLOAD, type Frame } from './frame.ts';
import type { FrameWriter } from './frame-writer.ts';

/** The streams that this side sends, each within the room that the other side granted. */
export interface SentStreams {
  open(stream: number): StreamWriter;
  /** Takes a grant of the other side. Throws a {@link FrameError} at one that no reader gives. */
  takeCredit(frame: Frame): void;
  /** Lets everyone go who waits for room that nobody will grant. */
  release(): void;
}

interface Outgoing {
  credit: number;
  waiting: (() => void)[];
}

/** Creates the outgoing streams of one channel. */
export function createSentStreams(frames: FrameWriter): SentStreams {
  const outgoing = new Map<number, Outgoing>();
  let released = false;

  return {
    open(stream) {
      const entry: Outgoing = { credit: STREAM_WINDOW, waiting: [] };
      outgoing.set(stream, entry);
      return {
        async write(chunk) {
          for (let offset = 0; offset < chunk.length;) {
            while (entry.credit === 0 && !released) {
              await new Promise<void>((resolve) => entry.waiting.push(resolve));
            }
            if (released) return;
            const size = Math.min(entry.credit, MAX_FRAME_PAYLOAD, chunk.length - offset);
            entry.credit -= size;
            frames.write(FRAME_KIND.data, 0, stream, chunk.subarray(offset, offset + size));
            offset += size;
          }
        },
        end() {
          frames.write(FRAME_KIND.data, FLAG_END, stream, new Uint8Array(0));
        },
      };
    },
    takeCredit({ stream, payload }) {
      if (payload.length !== 4) throw new FrameError('Cannot take credit: its payload is not 4 bytes.');
      const entry = outgoing.get(stream);
      if (entry === undefined) return;
      entry.credit += payload.readUInt32LE(0);
      if (entry.credit > STREAM_WINDOW) throw new FrameError('Cannot take credit: more than was sent.');
      resumeAll(entry);
    },
    release() {
      released = true;
      for (const entry of outgoing.values()) resumeAll(entry);
    },
  };
}

function resumeAll(entry: Outgoing): void {
  const { waiting } = entry;
  entry.waiting = [];
  for (const resume of waiting) resume();
}
