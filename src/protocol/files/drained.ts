import type { EventEmitter } from 'node:events';

/** Resolves when a stream drains or closes. */
export function drained(stream: EventEmitter): Promise<void> {
  return new Promise((resolve) => {
    const go = (): void => {
      stream.off('drain', go).off('close', go);
      resolve();
    };
    stream.on('drain', go).on('close', go);
  });
}
