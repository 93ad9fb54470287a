import { STREAM_WINDOW, type StreamWriter } from './byte-stream.ts';
import { FrameError, MAX_STREAM, type Frame } from './frame.ts';
import type { FrameWriter, Lane } from './frame-writer.ts';

/** The streams that this side sends, each within the room that the other side granted. */
export interface SentStreams {
  /** Opens the next stream; a message has to name it before its first byte is written. */
  open(): StreamWriter;
  /** Takes a grant of the other side. Throws a {@link FrameError} at one that no reader gives. */
  takeCredit(frame: Frame): void;
  /** Lets everyone go who waits for room that nobody will grant. */
  release(): void;
}

/** Creates the outgoing streams of one channel. They are numbered from 1 as they are opened; a number is not used again. */
export function createSentStreams(frames: FrameWriter): SentStreams {
  const open = new Map<number, Lane>();
  let lastNumber = 0;
  let released = false;

  return {
    open() {
      if (lastNumber === MAX_STREAM) throw new FrameError(`Cannot open a stream: the channel has had ${MAX_STREAM}.`);
      lastNumber += 1;
      const stream = lastNumber;
      const ended = (): void => void open.delete(stream);
      const lane: Lane = { stream, credit: STREAM_WINDOW, chunk: undefined, taken: undefined, ending: false, ended };
      open.set(stream, lane);
      return {
        number: stream,
        async write(chunk) {
          // One after the other: a lane holds one chunk.
          while (lane.taken !== undefined && !released) await taken(lane);
          if (released || chunk.length === 0) return;
          lane.chunk = chunk;
          const sent = taken(lane);
          frames.offer(lane);
          await sent;
        },
        end() {
          if (lane.ending) return;
          lane.ending = true;
          frames.offer(lane);
        },
      };
    },
    takeCredit({ stream, payload }) {
      if (payload.length !== 4) throw new FrameError('Cannot take credit: its payload is not 4 bytes.');
      if (stream > lastNumber) throw new FrameError(`Cannot take credit: unknown stream, got ${stream}.`);
      const lane = open.get(stream);
      if (lane === undefined) return;
      lane.credit += payload.readUInt32LE(0);
      if (lane.credit > STREAM_WINDOW) throw new FrameError('Cannot take credit: more than was sent.');
      frames.offer(lane);
    },
    release() {
      released = true;
      for (const lane of open.values()) lane.taken?.();
      open.clear();
    },
  };
}

/** Resolves when what the lane holds has been handed on. */
function taken(lane: Lane): Promise<void> {
  const before = lane.taken;
  return new Promise((resolve) => {
    lane.taken = () => {
      before?.();
      resolve();
    };
  });
}
