import type { Readable } from 'node:stream';
import type { OutputSource } from '../run/output-capture.ts';

/** How a stream ended. */
type End = 'end' | 'close' | 'error';

/**
 * An output of an interpreter as one run after the other reads it. To listen anew and to stop costs a short run a tenth of its time, so
 * that there is one listener for all of them. What comes between two runs is for the next one; after the first piece the rest waits in its pipe.
 */
export function lastingOutput(stream: Readable): OutputSource {
  const early: Buffer[] = [];
  const ends = new Map<End, () => void>();
  let take: ((chunk: Buffer) => void) | undefined;
  let isFlowing = false;
  let isHeld = false;
  let ended: End | undefined;

  const hand = (chunk: Buffer): void => {
    if (isFlowing && take !== undefined) return take(chunk);
    early.push(chunk);
    isHeld = true;
    stream.pause();
  };
  stream.on('data', hand);
  for (const name of ['end', 'close', 'error'] as const)
    stream.on(name, () => {
      ended ??= name;
      ends.get(name)?.();
    });
  return {
    on: (_name, taker) => void (take = taker),
    once(name, taker) {
      if (ended === name) taker();
      else ends.set(name, taker);
    },
    off(name) {
      if (name === 'data') take = undefined;
      else ends.delete(name);
    },
    pause: () => void (isFlowing = false),
    resume() {
      isFlowing = true;
      while (isFlowing && early.length > 0) take?.(early.shift() as Buffer);
      if (!isFlowing || !isHeld) return;
      isHeld = false;
      stream.resume();
    },
    destroy: () => void stream.destroy(),
  };
}
