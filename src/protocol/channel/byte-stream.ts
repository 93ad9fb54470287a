/** Bytes that a sender may have under way on one stream before the reader grants more. */
export const STREAM_WINDOW: number = 1024 * 1024;

/** Takes the bytes of one incoming stream. A pending promise withholds credit, and so slows the sender. */
export interface StreamReader {
  data(chunk: Buffer): void | Promise<void>;
  end(): void;
}

/** Takes bytes as fast as whoever reads them. */
export interface ByteWriter {
  write(chunk: Uint8Array): Promise<void>;
  end(): void;
}

/** An outgoing stream. `write` resolves when the other side has granted the room, and all streams before it have had their turn. */
export interface StreamWriter extends ByteWriter {
  /** Names the stream to the other side. */
  readonly number: number;
}
