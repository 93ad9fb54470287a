import type { OutputText } from '../../src/contracts/jobs/result.ts';
import type { ByteWriter } from '../../src/protocol/channel/channel.ts';
import { outputText } from '../../src/protocol/output-text.ts';
import { withinDeadline } from '../../src/protocol/within-deadline.ts';

/** Both output streams of one run. They are kept up to a cap and counted to the end; the caller ends the run above the total. */
export interface OutputCapture {
  stdout(): OutputText;
  stderr(): OutputText;
  /** Whether both streams together are over the total. */
  overTotal(): boolean;
  /**
   * Settles when all written output has been read and handed on. Time in which a slow reader holds the output back does not count. Returns whether
   * all of it was read: false if a stream did not end in time.
   *
   * @param graceMs for streams that may still have writers
   */
  finish(writers: Writers, graceMs: number): Promise<boolean>;
}

/**
 * The processes that may still write. `done`: none that counts, because the program has just said, in this turn of the event loop, that it has
 * written everything. `gone`: none, so the pipes hold all remaining output. `any`: any process, until a stream ends by itself.
 */
export type Writers = 'done' | 'gone' | 'any';

/** A stream for reading: a `Readable` or a replacement. */
export interface OutputSource {
  on(event: 'data', take: (chunk: Buffer) => void): unknown;
  once(event: 'end' | 'close' | 'error', take: () => void): unknown;
  off(event: 'data' | 'end' | 'close' | 'error', take: (chunk: Buffer) => void): unknown;
  pause(): unknown;
  resume(): unknown;
  destroy(): unknown;
}

/** Options of {@link captureOutput}. */
export interface OutputCaptureOptions {
  /** Bytes kept of each stream. */
  keptBytes: number;
  /** Bytes of both streams together. Above this, `onTotal` is called. */
  totalBytes: number;
  onTotal(): void;
  /** Receive the kept bytes as they arrive. */
  writers: { stdout: ByteWriter; stderr: ByteWriter };
  /** Whether a later capture reads the pipes again. Then only output that is already in the pipes is awaited. */
  stays?: boolean;
}

/** Reads an executor's output. Bytes over the cap are drained and counted, so that the program never blocks on them. */
export function captureOutput(
  stdout: OutputSource,
  stderr: OutputSource,
  options: OutputCaptureOptions,
): OutputCapture {
  let total = 0;
  const count = (size: number): void => {
    const before = total;
    total += size;
    if (before <= options.totalBytes && total > options.totalBytes) options.onTotal();
  };
  const first = captureStream(stdout, options.keptBytes, options.writers.stdout, count);
  const second = captureStream(stderr, options.keptBytes, options.writers.stderr, count);
  return {
    stdout: first.text,
    stderr: second.text,
    overTotal: () => total > options.totalBytes,
    async finish(writing, graceMs) {
      let hasEnded = false;
      const ended = Promise.all([first.ended, second.ended]).then((wholes) => (hasEnded = wholes.every(Boolean)));
      const heldBack = (): boolean => first.heldBack() || second.heldBack();
      let whole = writing !== 'any';
      const atEnd = total;
      // Output from before a message can be read as soon as the message, and is read before the next round.
      let rounds = writing === 'done' && !heldBack() ? 1 : 2;
      for (let over = false; !over; rounds = 2) {
        await Promise.all([first.handedOn(), second.handedOn()]);
        const before = total;
        if (writing !== 'any') {
          await untilRead(rounds);
          over = (total === before || (options.stays === true && total - atEnd > PIPE_BYTES)) && !heldBack();
        } else {
          await withinDeadline(ended, { limitMs: graceMs, overdue: () => false });
          // On a busy machine the timer may fire before the pipe's content is read.
          await untilRead(rounds);
          whole = hasEnded;
          over = whole || !heldBack();
        }
      }
      await Promise.all([first.handedOn(), second.handedOn()]);
      for (const stream of [first, second]) stream.leave(options.stays === true);
      options.writers.stdout.end();
      options.writers.stderr.end();
      return whole;
    },
  };
}

/** Capacity of two pipes. Anything read beyond it was written later. */
const PIPE_BYTES = 2 * 1024 * 1024;

/**
 * Waits until the event loop has read the bytes that were readable at the call. The first round may have asked the kernel before the call, so
 * only the second one has surely asked again.
 */
export async function untilRead(rounds = 2): Promise<void> {
  for (let round = 0; round < rounds; round += 1) await new Promise((resolve) => setImmediate(resolve));
}

interface StreamCapture {
  text(): OutputText;
  /** Whether the stream ended without an error. */
  ended: Promise<boolean>;
  /** Whether read bytes wait until the host takes them. */
  heldBack(): boolean;
  /** Resolves when the host has taken all bytes read so far. */
  handedOn(): Promise<void>;
  /** Ends the stream, or leaves later output in its pipe. */
  leave(stays: boolean): void;
}

function captureStream(
  stream: OutputSource,
  keptBytes: number,
  writer: ByteWriter,
  count: (size: number) => void,
): StreamCapture {
  const kept: Buffer[] = [];
  let keptSize = 0;
  let bytes = 0;
  let writing: Promise<void> | undefined;
  const take = (chunk: Buffer): void => {
    bytes += chunk.length;
    const room = keptBytes - keptSize;
    if (room > 0) {
      const part = chunk.length > room ? Buffer.from(chunk.subarray(0, room)) : chunk;
      kept.push(part);
      keptSize += part.length;
      stream.pause();
      writing = writer.write(part).then(() => {
        writing = undefined;
        stream.resume();
      });
    }
    count(chunk.length);
  };
  stream.on('data', take);
  stream.resume();
  const { promise: ended, resolve } = Promise.withResolvers<boolean>();
  const end = (): void => resolve(true);
  const fail = (): void => resolve(false);
  stream.once('end', end);
  stream.once('close', end);
  stream.once('error', fail);
  return {
    ended,
    heldBack: () => writing !== undefined,
    handedOn: async () => await writing,
    leave(stays) {
      if (!stays) return void stream.destroy();
      stream.off('data', take);
      stream.off('end', end);
      stream.off('close', end);
      stream.off('error', fail);
      stream.pause();
    },
    text: () => outputText(kept, bytes),
  };
}
