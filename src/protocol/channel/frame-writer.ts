import type { Duplex } from 'node:stream';
import { SHARED_WINDOW, type StreamPace } from './byte-stream.ts';
import { FLAG_END, FRAME_KIND, FrameError, frameHeader } from './frame.ts';
import { createGatheredFrames } from './gathered-frames.ts';

/** How long an event may wait for another frame. */
const EVENT_DELAY_MS = 4;
/** Most bytes in the duplex before it must drain; an urgent frame waits behind no more than these. */
const HANDED_BYTES = 256 * 1024;
/** Most bytes of one stream per turn. */
const TURN_BYTES = 64 * 1024;

/** Time of a control frame. `now`: at once; `event`: with the next frame or a few milliseconds later; `last`: after all pending stream bytes. */
export type Urgency = 'now' | 'event' | 'last';

/** One outgoing stream in the queue: its pending bytes and its credit. */
export interface Lane {
  readonly stream: number;
  readonly pace: StreamPace;
  /** Bytes that the other side accepts. */
  credit: number;
  /** The pending chunk, and the callback after it is sent. */
  chunk: Uint8Array | undefined;
  taken: (() => void) | undefined;
  /** True if the stream ends after the pending chunk. */
  ending: boolean;
  /** Called after the end of the stream is sent. */
  ended(): void;
}

/** Writes frames to a duplex: control frames first, then streams in turns. The frames of one tick leave together, unless they are many. */
export interface FrameWriter {
  control(kind: number, flags: number, stream: number, payload: string | Uint8Array, urgency?: Urgency): void;
  /** Reports that a lane has more bytes to send, or more credit. */
  offer(lane: Lane): void;
  /** Takes credit for the streams of a shared pace. Throws a {@link FrameError} if it is for more than was sent. */
  takeShared(bytes: number): void;
  /** Passes the written frames to the system. */
  flush(): void;
  /** Drops all further frames. */
  stop(): void;
  /** Bytes of control frames that wait in this process. */
  readonly backlog: number;
}

/** Creates the writer of one channel. */
export function createFrameWriter(duplex: Duplex): FrameWriter {
  /** Lanes with pending bytes and credit, in the order of their turns. */
  const ready = new Set<Lane>();
  /** Lanes with pending bytes or a pending end. */
  const loaded = new Set<Lane>();
  let last: { kind: number; flags: number; stream: number; payload: string | Uint8Array }[] = [];
  const gathered = createGatheredFrames(duplex);
  let sharedCredit = SHARED_WINDOW;
  let stopped = false;
  let corked = false;
  let flushing = false;
  let eventTimer: NodeJS.Timeout | undefined;

  const cork = (): void => {
    if (corked) return;
    corked = true;
    duplex.cork();
  };
  const flushSoon = (): void => {
    if (flushing) return;
    flushing = true;
    process.nextTick(flush);
  };
  const put = (kind: number, flags: number, stream: number, payload: string | Uint8Array): void => {
    cork();
    gathered.add(frameHeader(kind, flags, stream), payload);
  };
  const backlog = (): number => duplex.writableLength + gathered.bytes;

  /** Sends one turn of a lane. */
  const turn = (lane: Lane): void => {
    ready.delete(lane);
    const { chunk } = lane;
    if (chunk === undefined) {
      loaded.delete(lane);
      put(FRAME_KIND.data, FLAG_END, lane.stream, new Uint8Array(0));
      return lane.ended();
    }
    const size = Math.min(lane.credit, TURN_BYTES, chunk.length, lane.pace.shared ? sharedCredit : chunk.length);
    lane.credit -= size;
    if (lane.pace.shared) sharedCredit -= size;
    put(FRAME_KIND.data, 0, lane.stream, chunk.subarray(0, size));
    if (size < chunk.length) {
      lane.chunk = chunk.subarray(size);
      if (lane.credit > 0) ready.add(lane);
      return;
    }
    lane.chunk = undefined;
    if (lane.ending) ready.add(lane);
    else loaded.delete(lane);
    const { taken } = lane;
    lane.taken = undefined;
    taken?.();
  };

  const pump = (): void => {
    for (const lane of ready) {
      if (backlog() >= HANDED_BYTES) return;
      if (lane.pace.shared && lane.chunk !== undefined && sharedCredit === 0) continue;
      turn(lane);
    }
  };

  const pumpAll = (): void => {
    pump();
    if (loaded.size > 0 || last.length === 0) return;
    for (const { kind, flags, stream, payload } of last) put(kind, flags, stream, payload);
    last = [];
  };

  const flush = (): void => {
    flushing = false;
    clearTimeout(eventTimer);
    eventTimer = undefined;
    if (stopped || duplex.writableEnded) return;
    pumpAll();
    if (!corked) return;
    corked = false;
    gathered.flush();
    duplex.uncork();
  };
  duplex.on('drain', () => {
    if (ready.size > 0 || last.length > 0) flush();
  });

  return {
    flush,
    control(kind, flags, stream, payload, urgency = 'now') {
      if (stopped || duplex.writableEnded) return;
      if (urgency === 'last') last.push({ kind, flags, stream, payload });
      else put(kind, flags, stream, payload);
      if (gathered.isEnough) flush();
      else if (urgency !== 'event') flushSoon();
      else if (!flushing) eventTimer ??= setTimeout(flush, EVENT_DELAY_MS);
    },
    offer(lane) {
      if (stopped || duplex.writableEnded) return;
      const hasMore = lane.chunk !== undefined || lane.ending;
      if (!hasMore) return;
      loaded.add(lane);
      if (lane.chunk !== undefined && lane.credit === 0) return;
      const alone = ready.size === 0;
      ready.add(lane);
      // The only lane need not wait for the end of the tick: its small chunks then leave together.
      if (alone) pump();
      flushSoon();
    },
    takeShared(bytes) {
      sharedCredit += bytes;
      if (sharedCredit > SHARED_WINDOW) throw new FrameError('Cannot take credit: more than was sent.');
      if (ready.size > 0) flushSoon();
    },
    stop() {
      stopped = true;
      clearTimeout(eventTimer);
    },
    get backlog() {
      return backlog();
    },
  };
}
