import { STREAM_PACE, type StreamPace, type StreamWriter } from './byte-stream.ts';
import { ALL_SHARED, FrameError, MAX_STREAM, type Frame } from './frame.ts';
import type { FrameWriter, Lane } from './frame-writer.ts';

/** The streams that this side sends, each within its granted credit. */
export interface SentStreams {
  /** Opens the next stream. A message must announce it before its first byte is written. */
  open(pace?: StreamPace): StreamWriter;
  /** Takes a credit frame. Throws a {@link FrameError} if it violates the protocol. */
  takeCredit(frame: Frame): void;
  /** Resolves all pending writes after the end of the channel. */
  release(): void;
}

/** Creates the outgoing streams of one channel. They are numbered from 1 in the order of opening; numbers are not reused. */
export function createSentStreams(frames: FrameWriter): SentStreams {
  const open = new Map<number, Lane>();
  let lastNumber = 0;
  let released = false;

  return {
    open(pace = STREAM_PACE) {
      if (lastNumber === MAX_STREAM) throw new FrameError(`Cannot open a stream: the channel has had ${MAX_STREAM}.`);
      lastNumber += 1;
      const stream = lastNumber;
      let onSent: (() => void) | undefined;
      const ended = (): void => {
        open.delete(stream);
        onSent?.();
      };
      const given = { stream, pace, credit: pace.window };
      const lane: Lane = { ...given, chunk: undefined, taken: undefined, ending: false, ended };
      open.set(stream, lane);
      return {
        number: stream,
        async write(chunk) {
          // A lane holds one chunk, so writes wait for each other.
          while (lane.taken !== undefined && !released) await taken(lane);
          if (released || chunk.length === 0) return;
          lane.chunk = chunk;
          const sent = taken(lane);
          frames.offer(lane);
          await sent;
        },
        end(sent) {
          if (lane.ending) return;
          lane.ending = true;
          onSent = sent;
          frames.offer(lane);
        },
      };
    },
    takeCredit({ stream, payload }) {
      if (payload.length !== 4) throw new FrameError('Cannot take credit: its payload is not 4 bytes.');
      if (stream === ALL_SHARED) return frames.takeShared(payload.readUInt32LE(0));
      if (stream > lastNumber) throw new FrameError(`Cannot take credit: unknown stream, got ${stream}.`);
      const lane = open.get(stream);
      if (lane === undefined) return;
      lane.credit += payload.readUInt32LE(0);
      if (lane.credit > lane.pace.window) throw new FrameError('Cannot take credit: more than was sent.');
      frames.offer(lane);
    },
    release() {
      released = true;
      for (const lane of open.values()) lane.taken?.();
      open.clear();
    },
  };
}

/** Resolves after the pending chunk of the lane is sent. */
function taken(lane: Lane): Promise<void> {
  const before = lane.taken;
  return new Promise((resolve) => {
    lane.taken = () => {
      before?.();
      resolve();
    };
  });
}
