/** How fast a stream may be sent. Both sides know it before the first byte. */
export interface StreamPace {
  /** Most bytes under way until the reader grants more credit. */
  readonly window: number;
  /** True if all such streams together are within {@link SHARED_WINDOW}. */
  readonly shared: boolean;
}

/** Most bytes under way on one stream until the reader grants more credit. */
export const STREAM_WINDOW: number = 1024 * 1024;
export const STREAM_PACE: StreamPace = { window: STREAM_WINDOW, shared: false };
/** The pace of each direction of a connection: a job may have many connections without a reader. */
export const CONNECTION_PACE: StreamPace = { window: 256 * 1024, shared: true };
/**
 * Most bytes of all connections that have left one side of a channel and not reached the other: a message waits behind no more than these
 * in the buffers of the system and of an engine.
 */
export const SHARED_WINDOW: number = 128 * 1024;

/** Reader of one incoming stream. A pending promise withholds credit and so slows the sender. */
export interface StreamReader {
  data(chunk: Buffer): void | Promise<void>;
  end(): void;
}

/** Writer with backpressure. */
export interface ByteWriter {
  write(chunk: Uint8Array): Promise<void>;
  /** @param sent called when the end is on its way to the other side */
  end(sent?: () => void): void;
}

/** An outgoing stream. `write` resolves after the other side has granted credit and the streams before it have had their turn. */
export interface StreamWriter extends ByteWriter {
  /** Number of the stream in messages to the other side. */
  readonly number: number;
}
