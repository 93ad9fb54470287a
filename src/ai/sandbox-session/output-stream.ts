/** Bytes from the sandbox as a stream of the caller. */
export interface OutputStream {
  stream: ReadableStream<Uint8Array>;
  /** Takes bytes. A promise withholds the bytes after them until the stream has room. */
  take(this: void, chunk: Uint8Array): void | Promise<void>;
  end(this: void): void;
  fail(this: void, error: unknown): void;
  /** Called when the reader asks for bytes that are not there. */
  onPull(this: void): void;
  /** Called when the reader leaves. Further bytes are dropped. */
  onCancel(this: void): void;
}

/** @param heldBytes bytes that the stream holds until they are read */
export function outputStream(heldBytes: number): OutputStream {
  let controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  let isOver = false;
  let withheld: (() => void)[] = [];
  const grant = (): void => {
    for (const resolve of withheld) resolve();
    withheld = [];
  };
  const close = (step: () => void): void => {
    if (!isOver) step();
    isOver = true;
    grant();
  };
  const output: OutputStream = {
    stream: new ReadableStream<Uint8Array>(
      {
        start: (given) => void (controller = given),
        pull() {
          output.onPull();
          grant();
        },
        cancel() {
          close(() => undefined);
          output.onCancel();
        },
      },
      new ByteLengthQueuingStrategy({ highWaterMark: heldBytes }),
    ),
    take(chunk) {
      if (isOver) return undefined;
      controller?.enqueue(new Uint8Array(chunk));
      if ((controller?.desiredSize ?? 0) > 0) return undefined;
      return new Promise((resolve) => void withheld.push(resolve));
    },
    end: () => close(() => controller?.close()),
    fail: (error) => close(() => controller?.error(error)),
    onPull: () => undefined,
    onCancel: () => undefined,
  };
  return output;
}
