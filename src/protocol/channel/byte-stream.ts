/** Most bytes under way on one stream until the reader grants more credit. */
export const STREAM_WINDOW: number = 1024 * 1024;
/** The same for each direction of a connection: a job may have many connections without a reader. */
export const CONNECTION_WINDOW: number = 256 * 1024;

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
