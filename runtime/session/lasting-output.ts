import type { Readable } from 'node:stream';
import type { OutputSource } from '../run/output-capture.ts';

/** The end of a stream. */
type End = 'end' | 'close' | 'error';

/**
 * An output of an interpreter that successive runs read. To listen again for each run would cost a short run a tenth of its time, so one listener
 * serves all runs. Output between two runs belongs to the next run. After the first chunk the rest waits in its pipe.
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
