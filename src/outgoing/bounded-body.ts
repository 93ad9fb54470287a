import type { Readable } from 'node:stream';
import { createGunzip, type Gunzip } from 'node:zlib';
import { SkillcellError } from '../contracts/errors/skillcell-error.ts';
import { outgoingRefused, outgoingUnavailable } from './outgoing-refused.ts';
import type { RequestClock } from './request-clock.ts';

/** Options of {@link boundedBody}. */
export interface BodyOptions {
  encoding: string;
  /** Most received bytes. */
  maxBytes: number;
  /** Most inflated bytes. */
  maxInflatedBytes: number;
  clock: RequestClock;
  shown: string;
}

/** The body of an answer in chunks, within its limits. When the reader stops early, the body is destroyed. */
export async function* boundedBody(body: Readable, options: BodyOptions): AsyncGenerator<Buffer> {
  const { encoding, maxBytes, maxInflatedBytes, clock, shown } = options;
  const arriving = counted(body, maxBytes, () => outgoingRefused(`it sends more than ${maxBytes} bytes`, shown));
  try {
    if (encoding === 'identity') yield* arriving;
    else
      yield* counted(inflated(arriving, createGunzip()), maxInflatedBytes, () =>
        outgoingRefused(`its answer inflates to more than ${maxInflatedBytes} bytes`, shown),
      );
  } catch (error) {
    throw bodyError(error, clock, shown);
  } finally {
    clock.stop();
    body.destroy();
  }
}

async function* counted(pieces: AsyncIterable<Buffer>, limit: number, tooMuch: () => Error): AsyncGenerator<Buffer> {
  let bytes = 0;
  for await (const piece of pieces) {
    bytes += piece.length;
    if (bytes > limit) throw tooMuch();
    yield piece;
  }
}

/** Inflates chunk by chunk, so that a decompression bomb is never in memory as a whole. */
async function* inflated(pieces: AsyncIterable<Buffer>, gunzip: Gunzip): AsyncGenerator<Buffer> {
  const feed = async (): Promise<void> => {
    for await (const piece of pieces)
      if (!gunzip.write(piece)) await new Promise((resolve) => gunzip.once('drain', resolve).once('close', resolve));
    gunzip.end();
  };
  feed().catch((error: Error) => gunzip.destroy(error));
  // Leaving this loop destroys the stream.
  for await (const piece of gunzip) yield piece as Buffer;
}

function bodyError(error: unknown, { signal }: RequestClock, shown: string): unknown {
  if (signal.aborted) return signal.reason;
  if (SkillcellError.isInstance(error)) return error;
  const { code } = error as NodeJS.ErrnoException;
  return code?.startsWith('Z_') === true
    ? outgoingRefused('its answer cannot be inflated', shown)
    : outgoingUnavailable('it broke off its answer', shown, error);
}
