import type { Duplex } from 'node:stream';
import { encodeFrameHeader } from './frame.ts';

/** How long an event may wait for something to travel with. */
const EVENT_DELAY_MS = 4;

/** Writes frames to a duplex; those of one tick leave together. */
export interface FrameWriter {
  /** @param isEvent nobody waits for this frame: it goes with the next one, or alone a few milliseconds later */
  write(kind: number, flags: number, stream: number, payload: Uint8Array, isEvent?: boolean): void;
  /** Hands what was written to the system. */
  flush(): void;
  /** Writes nothing any more. */
  stop(): void;
}

/** Creates the writer of one channel: what is written in one tick goes in one system call, and wakes the other side once. */
export function createFrameWriter(duplex: Duplex): FrameWriter {
  let stopped = false;
  let corked = false;
  let flushing = false;
  let eventTimer: NodeJS.Timeout | undefined;

  const flush = (): void => {
    if (!corked) return;
    corked = false;
    flushing = false;
    clearTimeout(eventTimer);
    duplex.uncork();
  };

  return {
    flush,
    write(kind, flags, stream, payload, isEvent = false) {
      if (stopped || duplex.writableEnded) return;
      if (!corked) {
        corked = true;
        duplex.cork();
        if (isEvent) eventTimer = setTimeout(flush, EVENT_DELAY_MS);
      }
      if (!isEvent && !flushing) {
        flushing = true;
        process.nextTick(flush);
      }
      duplex.write(encodeFrameHeader(kind, flags, stream, payload.length));
      if (payload.length > 0) duplex.write(payload);
    },
    stop() {
      stopped = true;
      clearTimeout(eventTimer);
    },
  };
}
